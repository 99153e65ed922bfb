/** The parameters of a query string by name, in the order in which they came, their values still encoded. */
export function splitQuery(query: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const encodedName = equals === -1 ? pair : pair.slice(0, equals);
    const value = equals === -1 ? '' : pair.slice(equals + 1);
    const name = decode(encodedName) ?? decodeLoosely(encodedName);
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

/** The text behind percent-encoded UTF-8, or undefined when the encoding is broken. */
export function decode(encoded: string): string | undefined {
  if (!needsDecoding.test(encoded)) return encoded;
  if (brokenEscape.test(encoded)) return undefined;
  try {
    return strictUtf8.decode(bytesOf(encoded));
  } catch {
    return undefined;
  }
}

/** For names that cannot be decoded: whatever of them is text, so that nothing hides in an encoding. */
function decodeLoosely(encoded: string): string {
  return looseUtf8.decode(bytesOf(encoded));
}

/** A target is ASCII: HTTP that holds anything else is refused before it comes here. */
function bytesOf(encoded: string): Uint8Array {
  const unescaped = encoded
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(unescaped, 'latin1');
}
