import { hostname, userInfo } from 'node:os';
import { commandLineBounds } from '../bounds/command-line.ts';
import { printable } from '../text.ts';
import { addedIn, type Option, optional, Problem, plainText, type Reader, setting } from './options.ts';

/** A text for the audit log, which a reader sees as it was typed. */
function visibleText(maxCodePoints: number): Reader<string> {
  const read = plainText(maxCodePoints);
  return (text) =>
    text.trim() === '' || printable(text) !== text
      ? new Problem('must have a visible character, and no invisible ones or marks of text direction.')
      : read(text);
}

const readActor = visibleText(commandLineBounds.actorCharacters);
const given = setting(
  'NAME',
  'PARTNER_NETWORK_ACTOR',
  readActor,
  undefined,
  'who makes the change, for the audit log',
);

/** Who makes a change: the flag, the variable, or the user and host that run the command. */
export const actor: Option<string> = {
  ...given,
  default: '<user>@<host>',
  resolve: (texts, flags) => given.resolve(texts, flags) ?? thisUser(),
};

/** Why a change is made, for the audit log. */
export const { reason } = addedIn('0.2.0', {
  reason: optional('TEXT', visibleText(commandLineBounds.reasonCharacters), 'why, for the audit log'),
});

function thisUser(): string | Problem {
  const host = hostname();
  const name = host === '' ? new Problem('') : readActor(`${userName()}@${host}`);
  return name instanceof Problem
    ? new Problem('or PARTNER_NETWORK_ACTOR is required: this machine has no usable user or host name.')
    : name;
}

/** The number of a user without a name, as in many containers. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
