import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { commandLineBounds } from '@partner-network/common/bounds/common';
import { command, jsonText } from '@partner-network/common/command-line/command';
import { defaulted, flag, optional, wholeNumber } from '@partner-network/common/command-line/options';
import { OperatorError } from '@partner-network/common/errors';
import { originOf } from '@partner-network/common/text';
import { within } from '@partner-network/common/timeout';
import { drainingDetail } from '@partner-network/http/refusal';
import { operationsAddress } from '@partner-network/service/settings';

const { readyAnswerMs, readyRetryMs, mostReadyWaitSeconds } = commandLineBounds;

/** Probes run it every few seconds, so it loads no HTTP client and no database. */
export const ready = command({
  options: {
    ...operationsAddress,
    wait: defaulted(
      'SECONDS',
      wholeNumber(0, mostReadyWaitSeconds),
      0,
      `seconds to wait until the instance is ready, at most ${mostReadyWaitSeconds}`,
    ),
    pid: optional('PID', wholeNumber(1, 2 ** 31 - 1), 'process of the instance: if it ends, wait no longer'),
    json: flag('print one JSON document'),
  },
  conflicts: (values) =>
    values['ops-port'] === 0 ? ['--ops-port 0 is not a port. Give the port that "serve" printed.'] : [],
  run: async ({ 'ops-host': host, 'ops-port': port, wait: seconds, pid, json }, _words, output) => {
    const address = { host: loopback[host] ?? host, port };
    const url = originOf(address.host, port);
    const endMs = performance.now() + seconds * 1_000;
    let failure = await failureOf(url, address);
    while (failure !== undefined && performance.now() < endMs && !hasEnded(pid)) {
      await wait(readyRetryMs);
      failure = await failureOf(url, address);
    }
    if (json) output.answer(jsonText({ ready: failure === undefined }, 2));
    else if (failure === undefined) output.answer(`The instance at ${url} is ready.`);
    if (failure !== undefined) throw new OperatorError(failure);
  },
});

/** An instance that listens on every interface is asked on this machine. */
const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function hasEnded(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    return !process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process of another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Another program at the address may send without end. Our answer is shorter. */
const mostCharacters = 10_000;

/** Why the instance is not ready, or undefined if it is. */
async function failureOf(url: string, address: { host: string; port: number }): Promise<string | undefined> {
  const socket = connect(address).setEncoding('latin1');
  const late = () => new Error(`no answer in ${readyAnswerMs} ms`);
  let text = '';
  socket.on('data', (part: string) => {
    text += part;
    if (text.length > mostCharacters) socket.destroy();
  });
  try {
    socket.write('GET /readyz HTTP/1.1\r\nHost: operations\r\nConnection: close\r\n\r\n');
    await within(readyAnswerMs, once(socket, 'close'), late);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const remedy = 'Start it with "partner-network serve", or correct --ops-host and --ops-port';
    return `No instance answers at ${url} (${code ?? message}). ${remedy}.`;
  } finally {
    socket.destroy();
  }
  const status = /^HTTP\/1\.[01] (\d{3}) /.exec(text)?.[1];
  if (status === '200') return undefined;
  if (status !== '503') return `${url} is not the operations address of an instance. Correct --ops-port.`;
  if (text.includes(drainingDetail)) return `The instance at ${url} is draining: it stops soon.`;
  const cause = 'its database does not answer or refuses its statements, or none of its workers listens';
  return `The instance at ${url} is not ready: ${cause}. Its log says more.`;
}
