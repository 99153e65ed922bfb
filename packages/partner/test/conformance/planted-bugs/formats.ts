/** JSON in other formats: harmless in a correct service, and no place for a bug to hide. */
import { type Bug, headerIn, withHeader } from './proxy.ts';

type Format = (value: unknown) => string;

const inOtherOrder = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOtherOrder);
  const entries = Object.entries(value).map(([name, field]) => [name, inOtherOrder(field)]);
  return Object.fromEntries(entries.reverse());
};

const stringOrMark = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/g;
/** More than 64 spaces are not a long value that an error repeats. */
const blank = `${' '.repeat(70)}\r\n\t`;
const hexOf = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
const escaped = (string: string) => `"${JSON.parse(string).replace(/./gs, (u: string) => `\\u${hexOf(u)}`)}"`;

export const formats = {
  'slashes with a backslash': (value) => JSON.stringify(value).replaceAll('/', '\\/'),
  'every character escaped': (value) =>
    JSON.stringify(value).replace(stringOrMark, (found) => (found.length > 1 ? escaped(found) : found)),
  'much white space': (value) =>
    JSON.stringify(value).replace(stringOrMark, (found) => `${blank}${found}${blank}`),
  'fields in another order': (value) => JSON.stringify(inOtherOrder(value)),
} as const satisfies Readonly<Record<string, Format>>;

/** Changes the format of every JSON response. HEAD gets the headers of the response to GET. */
export const inFormat =
  (format: Format, bug: Bug = (sent, service) => service(sent)): Bug =>
  async (sent, service, supplied) => {
    const reply = await bug(sent.method === 'HEAD' ? { ...sent, method: 'GET' } : sent, service, supplied);
    if (!headerIn(reply.headers, 'content-type')?.startsWith('application/json')) return reply;
    const body = format(JSON.parse(reply.body));
    const headers = withHeader(reply.headers, 'Content-Length', String(Buffer.byteLength(body)));
    return { ...reply, headers, body };
  };
