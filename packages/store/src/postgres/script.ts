/** Quoted text, comments and semicolons: the parts of a script that decide where a statement ends. */
const part = /--[^\n]*|\/\*.*?\*\/|'[^']*'|"[^"]*"|(\$\w*\$).*?\1|;|./gs;

/** The statements of an SQL script, without comments. A semicolon in quotes does not end one. */
export function statementsOf(script: string): string[] {
  const statements = [''];
  for (const [text] of script.matchAll(part)) {
    if (text === ';') statements.push('');
    else if (!/^(--|\/\*)/.test(text)) statements[statements.length - 1] += text;
  }
  return statements.flatMap((statement) => statement.trim() || []);
}
