/** Runs programs with the client for Python. */
import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { programsOnPath } from '../servers/programs.ts';

/** The client for Python. */
export const pythonClient = fileURLToPath(new URL('../../../clients/python/', import.meta.url));

/** The first Python of the machine that runs this line without an error. */
export function pythonThatRuns(line: string): string | undefined {
  return programsOnPath(['python3'], ['/usr/bin']).find((path) => spawnSync(path, ['-c', line]).status === 0);
}

const isNew = 'import sys; sys.exit(sys.version_info < (3, 10))';
const python = pythonThatRuns(isNew) ?? '';
export const needsPython = { skip: python === '' && 'Python 3.10 or later is not installed' };

interface PythonSurroundings {
  /** Another Python, which has the client installed. */
  readonly program?: string;
  readonly input?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs a program to its end, by default with the sources of the client. Resolves to its output. */
export async function runPython(
  words: readonly string[],
  { program = python, input = '', variables = {} }: PythonSurroundings = {},
) {
  const env = {
    ...(program === python && { PYTHONPATH: `${pythonClient}src` }),
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUTF8: '1',
    // Also reports sockets that were left open.
    PYTHONWARNINGS: 'error',
    ...variables,
  };
  const child = spawn(program, words, { env, cwd: `${pythonClient}test` });
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { stdout, stderr };
}
