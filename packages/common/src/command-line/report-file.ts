import { writeFileSync } from 'node:fs';
import { OperatorError } from '../operator-error.ts';
import { exitUsage } from './command.ts';

/** Writes a report to the file of a flag such as --junit, if the flag is given. */
export function writeReport(path: string | undefined, text: string): void {
  try {
    if (path !== undefined) writeFileSync(path, text);
  } catch (error) {
    const { message } = error as Error;
    throw new OperatorError(`Cannot write the report: ${message}.`, { exitStatus: exitUsage });
  }
}
