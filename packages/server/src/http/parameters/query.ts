/** The parameters of a query string by name, in the order of their first appearance. Values stay encoded. */
export function splitQuery(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const encodedName = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? '' : pair.slice(equals + 1);
    // A name that cannot be decoded is still shown in the error, with replacement characters.
    const name = decode(encodedName) ?? looseUtf8.decode(bytesOf(encodedName));
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

const needsDecoding = /[%+]/;
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const looseUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes percent-encoded UTF-8. Undefined if the encoding is broken. */
export function decode(encoded: string): string | undefined {
  if (!needsDecoding.test(encoded)) return encoded;
  if (brokenEscape.test(encoded)) return undefined;
  try {
    return strictUtf8.decode(bytesOf(encoded));
  } catch {
    return undefined;
  }
}

/** `encoded` is ASCII: Node rejects any other request target. */
function bytesOf(encoded: string): Uint8Array {
  const unescaped = encoded
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(unescaped, 'latin1');
}
