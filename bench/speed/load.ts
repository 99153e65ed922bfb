/** The load that all contenders get: some connections, each of which asks again as soon as it is answered. */
import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../packages/testkit/fixtures/folder.ts';
import { programsOnPath } from '../../packages/testkit/servers/programs.ts';
import { say, wholeRun } from '../lib/program.ts';
import { outputOf } from './processes.ts';

/** Enough to keep a process busy, and few enough that none of them waits long. */
const connections = 16;

export interface Request {
  readonly path: string;
  readonly key?: string;
}

export interface Target {
  readonly port: number;
  /** Asked for in turn: one page asked for again and again would flatter whoever keeps pages. */
  readonly requests: readonly Request[];
  /** Which all answers must have. */
  readonly status: number;
}

/** How many answers there were with the status that was expected, and with any other. */
export interface Answers {
  readonly expected: number;
  readonly other: number;
}

export interface LoadTool {
  readonly name: string;
  play(target: Target, seconds: number): Promise<Answers>;
}

interface Order {
  readonly name: string;
  readonly status: number;
  /** Answers of another status that are in order. */
  readonly mostOthers: number;
}

/** A process that does not get to run for a tenth of a second turns requests away; then it is tried again. */
const mostAttempts = 5;

export async function untilInOrder<Load extends Answers>(
  { name, status, mostOthers }: Order,
  play: () => Promise<Load>,
): Promise<Load> {
  for (let attempt = 1; ; attempt += 1) {
    const load = await play();
    const { expected, other } = load;
    if (expected > 0 && other <= mostOthers) return load;
    const said = `${name}: ${other} of ${expected + other} answers were not ${status}`;
    if (attempt === mostAttempts) throw new Error(`${said}.`);
    say(`${said}; again.`);
  }
}

const wrk = programsOnPath(['wrk'])[0];
const autocannonFolder = fileURLToPath(new URL('../node_modules/autocannon', import.meta.url));

export function lackOfLoadTool(): string | false {
  const isThere = wrk !== undefined || existsSync(autocannonFolder);
  return !isThere && 'This takes wrk ("apt-get install wrk") or autocannon ("npm ci --prefix bench").';
}

export function loadTool(): LoadTool {
  return wrk === undefined
    ? { name: 'autocannon', play: playAutocannon }
    : { name: 'wrk', play: wrkIn(temporaryFolder(wholeRun)) };
}

function wrkIn(folder: string): LoadTool['play'] {
  const script = join(folder, 'load.lua');
  return async (target, seconds) => {
    writeFileSync(script, wrkScript(target));
    const load = ['--threads', '1', '--connections', String(connections), '--duration', `${seconds}s`];
    const words = [...load, '--timeout', '10s', '--script', script, `http://127.0.0.1:${target.port}/`];
    const output = await outputOf(wrk!, words);
    const [broken, expected, other] = /^ANSWERS (\d+) (\d+) (\d+)$/m.exec(output)!.slice(1).map(Number);
    if (broken !== 0) throw new Error(`${broken} connections or answers were lost.`);
    return { expected: expected!, other: other! };
  };
}

/**
 * To look at each answer costs wrk as much as to read it. So it does only where they have another status than
 * 200, for those that are no good ones it counts by itself.
 */
function wrkScript({ port, requests, status }: Target): string {
  const texts = requests.map(({ path, key }) => {
    const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
    return JSON.stringify(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${authorization}\r\n`);
  });
  const look = `
    function response(status)
      if status ~= ${status} then other = other + 1 end
    end`;
  const others = status === 200 ? 'errors.status' : 'asking:get("other")';
  return `
    local requests = {${texts.join(',\n')}}
    local turn = 0
    other = 0
    function request()
      turn = turn % #requests + 1
      return requests[turn]
    end
    ${status === 200 ? '' : look}
    function setup(thread) asking = thread end
    function done(summary)
      local errors = summary.errors
      local broken = errors.connect + errors.read + errors.write + errors.timeout
      local others = ${others}
      io.write(string.format('ANSWERS %d %d %d\\n', broken, summary.requests - others, others))
    end`;
}

/** What of autocannon is used here. It is installed for the bench only, and its types are not. */
type Autocannon = (options: object) => Promise<{
  readonly errors: number;
  readonly timeouts: number;
  readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
}>;

async function playAutocannon({ port, requests, status }: Target, seconds: number): Promise<Answers> {
  const autocannon = createRequire(import.meta.url)(autocannonFolder) as Autocannon;
  const { errors, timeouts, statusCodeStats } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: requests.map(({ path, key }) => ({
      path,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    })),
  });
  if (errors + timeouts > 0) throw new Error(`${errors + timeouts} connections or answers were lost.`);
  const counts = Object.entries(statusCodeStats).map(([code, { count }]) => ({ code: Number(code), count }));
  const sum = (isCounted: (code: number) => boolean) =>
    counts.filter(({ code }) => isCounted(code)).reduce((total, { count }) => total + count, 0);
  return { expected: sum((code) => code === status), other: sum((code) => code !== status) };
}
