/** Markdown for generated pages. */

/** A table with one row for each record. A pipe in a cell would end the cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return `${line(headings)}|${'---|'.repeat(headings.length)}\n${rows.map(line).join('')}`;
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** Formats flags, variables and addresses in a plain sentence as code. */
export function withCode(sentence: string): string {
  return sentence.replace(
    /--[a-z]+(?:-[a-z]+)*|\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:sqlite|postgres|rediss?|https?):[^\s,;]*[^\s,;.]/g,
    code,
  );
}
