import { writeFileSync } from 'node:fs';
import { exitUsage } from '@partner-network/common/command-line/command';
import { OperatorError } from '@partner-network/common/errors';
import { escapeMarkup } from '@partner-network/common/text';

/** The result of one case in a JUnit file. */
export interface JunitCase {
  /** The group that viewers show it under. */
  readonly group: string;
  readonly name: string;
  /** Why it failed: the first line is shown in lists. */
  readonly failure?: string | undefined;
  /** Why it was not run. */
  readonly skipped?: string | undefined;
  readonly seconds?: number | undefined;
}

/** A report in the XML of JUnit, which CI services read. */
export function junitXml(suite: string, cases: readonly JunitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const skipped = cases.filter(({ skipped }) => skipped !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite name="${escaped(suite)}" ${counts}>`,
    ...cases.map(element),
    '</testsuite></testsuites>',
    '',
  ].join('\n');
}

function element({ group, name, failure, skipped, seconds = 0 }: JunitCase): string {
  const names = `classname="${escaped(group)}" name="${escaped(name)}"`;
  const start = `<testcase ${names} time="${seconds.toFixed(3)}"`;
  if (skipped !== undefined) return `${start}><skipped message="${escaped(skipped)}"/></testcase>`;
  if (failure === undefined) return `${start}/>`;
  const message = escaped(failure.split('\n')[0]!);
  return `${start}><failure message="${message}">${escaped(failure)}</failure></testcase>`;
}

/** Characters that XML does not allow become U+FFFD. */
function escaped(text: string): string {
  return escapeMarkup(text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd'));
}

/** Writes a report to the file of a flag such as --junit, if the flag is given. */
export function writeReport(path: string | undefined, text: string): void {
  try {
    if (path !== undefined) writeFileSync(path, text);
  } catch (error) {
    const { message } = error as Error;
    throw new OperatorError(`Cannot write the report: ${message}.`, { exitStatus: exitUsage });
  }
}
