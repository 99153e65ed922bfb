/** What a client says to Postgres, read from the bytes of one connection. */

export interface Said {
  /** The settings that it asked for when it connected. */
  readonly settings: Readonly<Record<string, string>>;
  /** The names under which it prepared statements, in order; an empty one for a statement without. */
  readonly prepared: readonly string[];
  /** How often it ran one, by the name of the statement. */
  readonly bound: readonly string[];
}

/** A message has a letter and its own length; only the first one has no letter. */
export function saidTo(bytes: Buffer): Said {
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
