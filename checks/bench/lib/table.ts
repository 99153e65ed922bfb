/** A Markdown table: the first column is aligned left, all others right. The first row is the heading. */
export function markdown([heading, ...rows]: string[][]): string {
  const widths = heading!.map((_, column) =>
    Math.max(...[heading!, ...rows].map((row) => row[column]!.length)),
  );
  const aligned = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  const line = (row: readonly string[]) => `| ${row.map(aligned).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(heading!), line(rule), ...rows.map(line)].join('\n');
}
