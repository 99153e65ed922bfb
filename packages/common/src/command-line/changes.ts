/** What commands that change something share: who changes it, why, and a confirmation. */
import { hostname, userInfo } from 'node:os';
import { commandLineBounds } from '../bounds/common.ts';
import { ConclusiveError } from '../errors.ts';
import { printable } from '../text.ts';
import { addedIn, flag, type Option, optional, Problem, plainText, type Reader, setting } from './options.ts';

/** A text for the audit log, which a reader sees as it was typed. */
function visibleText(maxCodePoints: number): Reader<string> {
  const read = plainText(maxCodePoints);
  return (text) =>
    text.trim() === '' || printable(text) !== text
      ? new Problem('must have a visible character, and no invisible ones or marks of text direction.')
      : read(text);
}

const readActor = visibleText(commandLineBounds.actorCharacters);
const givenActor = setting(
  'NAME',
  'PARTNER_NETWORK_ACTOR',
  readActor,
  undefined,
  'who makes the change, for the audit log',
);

/** Who makes a change: the flag, the variable, or the user and host that run the command. */
export const actor: Option<string> = {
  ...givenActor,
  default: '<user>@<host>',
  resolve: (texts, flags) => givenActor.resolve(texts, flags) ?? thisUser(),
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

export const yes = flag('do not ask for confirmation');

/** Asks before a step that cannot be undone. Without a terminal there is nobody to ask: --yes is needed. */
export async function confirm(consequence: string, isConfirmed: boolean): Promise<void> {
  if (isConfirmed) return;
  if (!process.stdin.isTTY)
    throw new ConclusiveError(`${consequence} Nothing was changed: pass --yes to confirm it.`);
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Closed by Ctrl-C or Ctrl-D, which count as no.
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`${consequence} Continue? [y/N] `), closed]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new ConclusiveError('Nothing was changed.');
}
