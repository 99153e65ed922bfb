import { hostname, userInfo } from 'node:os';
import { commandLineBounds } from '../bounds/command-line.ts';
import { holdsKey } from '../text.ts';
import { addedIn, type Option, optional, Problem, plainText, setting } from './options.ts';

const readActor = plainText(commandLineBounds.actorCharacters);
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

const readReason = plainText(commandLineBounds.reasonCharacters);

/** The audit log holds no keys, so a key that was pasted by mistake is refused. */
const reasonWithoutKey: typeof readReason = (text) =>
  holdsKey(text) ? new Problem('must not contain an API key.') : readReason(text);

/** Why a change is made, for the audit log. */
export const { reason } = addedIn('0.2.0', {
  reason: optional('TEXT', reasonWithoutKey, 'why, for the audit log'),
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
