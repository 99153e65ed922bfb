import type { IncomingMessage } from 'node:http';

/** Every value of one header, as sent: Node's own record keeps only the first of some headers. */
export function headerValues(rawHeaders: readonly string[], lowerCaseName: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) {
      values.push(rawHeaders[index + 1]!);
    }
  }
  return values;
}

/** The size of a request's line and headers as they were sent, but for optional white space. */
export function headBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  let bytes = method.length + url.length + '  HTTP/1.1\r\n\r\n'.length;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    bytes += rawHeaders[index]!.length + rawHeaders[index + 1]!.length + ': \r\n'.length;
  }
  return bytes;
}
