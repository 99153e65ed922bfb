/** A request as a curl command for a POSIX shell. The key stays in its variable, so it is not shown. */
export function curlLine(
  address: string,
  parameters: Readonly<Record<string, string | number | undefined>>,
  keyVariable: string,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  const url = query.size === 0 ? address : `${address}?${query}`;
  return `curl -H "Authorization: Bearer $${keyVariable}" ${quoted(url)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
