import { hostname, userInfo } from 'node:os';
import { commandLineBounds } from '../bounds/command-line.ts';
import { type Option, Problem, plainText, setting } from './options.ts';

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
