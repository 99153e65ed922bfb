/** Parses the answers on a connection, and checks what must hold for all of them. */
import assert from 'node:assert/strict';
import { errorCatalogue } from '@partner-network/contract/errors';
import { assertDocumented } from '../../packages/testkit/watch/documented.ts';
import type { Sent } from './http-requests.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [A-Za-z -]+$/;
const headerLine = /^([A-Za-z-]+): ([\x20-\x7e]*)$/;
const continues = 'HTTP/1.1 100 Continue\r\n\r\n';

/** The answers in order. No body begins with "HTTP/1.", so the answer to a HEAD is recognizable. */
export function answersIn(received: Buffer): Answer[] {
  const answers: Answer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    assert.notEqual(end, -1, 'an answer without an end of its headers');
    const [first = '', ...lines] = rest.toString('latin1', 0, end).split('\r\n');
    const status = Number(statusLine.exec(first)?.[1]);
    assert.ok(status >= 100, `no status line: ${first.slice(0, 80)}`);
    const headers = headersOf(lines);
    const after = rest.subarray(end + 4);
    const length = lengthOf(status, headers, after);
    assert.ok(after.length >= length, `a body of ${length} bytes has ${after.length}`);
    const isInterim = status === 100 && rest.toString('latin1', 0, continues.length) === continues;
    if (!isInterim) answers.push({ status, headers, body: after.toString('utf8', 0, length) });
    rest = after.subarray(length);
  }
  return answers;
}

function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = headerLine.exec(line) ?? [];
    assert.notEqual(name, '', `no header: ${line.slice(0, 80)}`);
    assert.equal(headers[name.toLowerCase()], undefined, `${name} is repeated`);
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function lengthOf(status: number, headers: Readonly<Record<string, string>>, after: Buffer): number {
  if (status === 100 || status === 204) return 0;
  assert.match(headers['content-length'] ?? '', /^\d+$/, 'a length');
  const isHead = after.length === 0 || after.toString('latin1', 0, 7) === 'HTTP/1.';
  return isHead ? 0 : Number(headers['content-length']);
}

/** Data that only the other partner may see. */
const zenithOnly = /Zenith|zenith|424242|"z1"|zoe/;

export function judgeAnswer({ status, headers, body }: Answer): void {
  assert.ok(status < 500, `status ${status}`);
  assert.match(headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/, 'X-Request-Id');
  assert.equal(headers['x-content-type-options'], 'nosniff');
  // A cursor and the nonce of a page are random, and may contain any three letters.
  assert.doesNotMatch(body.replace(/"cursor":"[^"]*"|csp-nonce" content="[^"]*"/, ''), zenithOnly);
  if (status === 204) assert.equal(headers.allow, 'GET, HEAD, OPTIONS');
  else if (status >= 400 || /^\{"(?:brands|balances)":/.test(body)) {
    assertDocumented({ status, headers, text: body }, body === '' ? 'HEAD' : 'GET');
  } else if (status === 303) assert.equal(headers.location, 'docs');
  else assert.equal(status, 200);
  if (status >= 400 && body !== '') {
    for (const { code } of JSON.parse(body).errors) {
      assert.equal(errorCatalogue[code as keyof typeof errorCatalogue].status, status);
    }
  }
}

export function judgeConnection({ whole, rest }: Sent, answers: readonly Answer[]): void {
  const least = whole.length + rest.least;
  const most = whole.length + rest.most;
  assert.ok(answers.length >= least, `${answers.length} answers to ${least} requests`);
  assert.ok(answers.length <= most, `${answers.length} answers to at most ${most} requests`);
  for (const [index, { status, isHead }] of whole.entries()) {
    const answer = answers[index]!;
    if (status !== undefined) assert.equal(answer.status, status);
    if (isHead) assert.equal(answer.body, '', 'a HEAD has no body');
  }
  const ids = new Set(answers.map(({ headers }) => headers['x-request-id']));
  assert.equal(ids.size, answers.length, 'an id for each');
}
