/**
 * Searches the logs of all tests for secrets: keys, cursors, queries, amounts, customers, passwords. Each
 * test process collects what it logs, and fails at its end if a secret is in its logs.
 */
import type { ChildProcess } from 'node:child_process';
import { homedir, hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { keyPrefixPattern } from '@partner-network/contract/environments';
import { createLog } from '../../common/src/observability/log.ts';
import { digestOfKey } from '../../service/src/auth.ts';

/** Credentials may be printed nowhere. Particulars may be printed by a command, but never logged. */
const credentials = ['key', 'digest of a key', 'password', 'cursor key'] as const;
const particulars = ['cursor', 'query', 'amount', 'customer'] as const;
type Kind = (typeof credentials)[number] | (typeof particulars)[number];

/** Not searched: stacks contain these paths, and a folder may have the name of a customer. */
const places = [fileURLToPath(new URL('../../..', import.meta.url)), homedir(), hostname()].filter(
  (place) => place.length > 2,
);

/**
 * Fields that differ in every line and contain no secret. Without them, thousands of lines become a few, and
 * the search takes milliseconds instead of a second.
 */
const uniqueFields = /"time":\d{13},|"request_id":"[0-9a-f-]{36}",|"duration_ms":\d{1,6}(?:\.\d{1,3})?,/g;

export function createWatch() {
  const secrets = new Map<string, Kind>();
  const logs = new Set<string>();
  const remarks = new Set<string>();

  /** Masks longer secrets first: a query can contain a cursor. Reports each line once. */
  function search(texts: ReadonlySet<string>, kinds: readonly string[]): string[] {
    const text = places.reduce((rest, place) => rest.replaceAll(place, ''), [...texts].join(''));
    const found = [...secrets]
      .filter(([secret, kind]) => kinds.includes(kind) && text.includes(secret))
      .toSorted(([one], [other]) => other.length - one.length);
    return text.split('\n').flatMap((line) => {
      const first = found.find(([secret]) => line.includes(secret));
      const masked = found.reduce((rest, [secret, kind]) => rest.replaceAll(secret, `<${kind}>`), line);
      return first === undefined ? [] : [`a ${first[1]} is in the log: ${masked}`];
    });
  }

  return {
    keep: (kind: Kind, text: string) => void secrets.set(text, kind),
    /** Adds lines of a log. */
    logged: (text: string) => void logs.add(text.replaceAll(uniqueFields, '')),
    /** Adds lines that a command wrote to standard error. */
    remarked: (text: string) => void remarks.add(text),
    /** The lines that contain a secret, with the secret masked. */
    leaks: () => [...search(logs, [...credentials, ...particulars]), ...search(remarks, credentials)],
  };
}

const watch = createWatch();

process.on('exit', () => {
  const leaks = watch.leaks();
  if (leaks.length === 0) return;
  process.stderr.write(`${leaks.slice(0, 10).join('\n')}\n`);
  process.exitCode = 1;
});

export function keepSecret(kind: Kind, text: string): void {
  // Shorter texts are in logs by chance.
  if (text.length >= 3) watch.keep(kind, text);
}

const prefix = new RegExp(`^${keyPrefixPattern}`);

/** Keeps most of a key, which also finds the whole, and its digest. */
export function keepKey(key: string): void {
  keepSecret('key', key.replace(prefix, '').slice(0, 32));
  keepBytes('digest of a key', digestOfKey(key));
}

/** Demo keys are public. Some tests send keys that are a few characters short. */
const secretKey = new RegExp(`${keyPrefixPattern}(?!demo)[0-9A-Za-z]{40,}`, 'g');
const seenKeys = new Set<string>();

/** Keeps the keys in what a client sends or a command prints. */
export function keepKeysIn(text: string): void {
  for (const [key] of text.matchAll(secretKey)) {
    if (seenKeys.has(key)) continue;
    seenKeys.add(key);
    keepKey(key);
  }
}

export function keepCursorKeys(keys: readonly { readonly secret: Uint8Array }[]): void {
  for (const { secret } of keys) keepBytes('cursor key', secret);
}

function keepBytes(kind: Kind, bytes: Uint8Array): void {
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    keepSecret(kind, Buffer.from(bytes).toString(encoding));
}

/** Keeps the query of a request and the cursor of its response. */
export function keepExchange(path: string, body: string): void {
  const query = path.slice(path.indexOf('?') + 1);
  if (path.includes('?') && query.length >= 8 && query.includes('=')) keepSecret('query', query);
  const cursor = /"cursor":"([^"]+)"\}$/.exec(body)?.[1];
  if (cursor !== undefined) keepSecret('cursor', cursor);
}

export type WatchedLog = ReturnType<typeof watchedLog>;

/** A log for a service in this process, and everything that was logged so far: as text, and line by line. */
export function watchedLog() {
  let logged = '';
  const write = (line: string) => {
    logged += line;
    watch.logged(line);
  };
  const log = createLog('info', { write });
  const lines = () =>
    logged
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  return { log, logs: () => logged, lines };
}

const userOfUrl = /:\/\/([^:@/\s]*:([^@/\s]+))@/;

/** Watches a command. It may print a key on standard output, but neither log it nor write it elsewhere. */
export function watchCommand(child: Pick<ChildProcess, 'stdout' | 'stderr'>, words: readonly string[]): void {
  for (const word of words) {
    const [, user = '', password = ''] = userOfUrl.exec(word) ?? [];
    if (password !== '') keepSecret('password', user);
    if (password.length >= 8) keepSecret('password', password);
  }
  const printed = linesOf((line) => {
    if (line.startsWith('{"level":')) watch.logged(line);
    else keepKeysIn(line);
  });
  const remarked = linesOf(watch.remarked);
  // Unlike `on`, this does not start reading: a test may want to read late.
  child.stdout?.prependListener('data', printed).on('end', () => printed('\n'));
  child.stderr?.prependListener('data', remarked).on('end', () => remarked('\n'));
}

/** Collects chunks of text and passes on whole lines. */
function linesOf(take: (line: string) => void): (chunk: Buffer | string) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) take(`${line}\n`);
  };
}
