export type ClientMessages = ReturnType<typeof clientMessagesIn>;

/**
 * Reads what a client sent to Postgres on a connection: the settings of its startup message, and the names of
 * the statements that it prepared and ran, in order. A statement without a name has an empty name. Each
 * message begins with a letter and its length. Only the first message has no letter.
 */
export function clientMessagesIn(bytes: Buffer) {
  const startBytes = bytes.readInt32BE(0);
  const words = bytes.toString('utf8', 8, startBytes).split('\0');
  const settings: Record<string, string> = {};
  for (let index = 0; words[index]; index += 2) settings[words[index]!] = words[index + 1]!;

  const prepared: string[] = [];
  const bound: string[] = [];
  for (let at = startBytes; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const [first = '', second = ''] = bytes
      .toString('utf8', at + 5, at + 1 + bytes.readInt32BE(at + 1))
      .split('\0', 2);
    const letter = String.fromCharCode(bytes[at]!);
    if (letter === 'P') prepared.push(first);
    // The first name is that of the portal.
    if (letter === 'B') bound.push(second);
  }
  return { settings, prepared, bound };
}
