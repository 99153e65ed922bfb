/** What a request of the administrative API says: its path, its query, its body and its author. */
import { isUtf8 } from 'node:buffer';
import {
  brokenRule,
  holdsKey,
  isCleanText,
  isDots,
  isLongerThan,
  printable,
} from '@partner-network/common/text';
import { normalizeTime } from '@partner-network/common/times';
import type { AdminOperation } from '@partner-network/contract/admin/operations';
import { adminLimits } from '@partner-network/contract/limits';
import { factsOf } from '@partner-network/contract/operations';
import type { RecordSchema } from '@partner-network/contract/records';
import { hasBody, readPlainBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { refusal, refusalSaying } from '@partner-network/http/refusal';
import { decode, headerValues, parseParameters } from '@partner-network/http/request';
import type { AuditAction, Author } from '@partner-network/store/port';
import { createChecker } from '../ingest/check.ts';
import { readJson } from '../ingest/json.ts';
import { dotsRejection, rejection } from '../ingest/rejections.ts';
import type { Caller } from './credentials.ts';
import { refusalOfBody } from './refusals.ts';

/** The status, if it is not 200, and the body of the answer. */
export interface Answered<Body extends object = object> {
  readonly status?: number;
  readonly body: Body;
}

export type Fields = Readonly<Record<string, string | number | readonly string[] | undefined>>;
type Texts = Readonly<Record<string, string>>;

/** What an operation is given: checked values of path and query, and a body that is checked later. */
export interface OperationInput {
  readonly path: Texts;
  readonly query: Fields;
  readonly body?: unknown;
}

/** What a request of the API says. */
export async function readRequest(
  operation: AdminOperation,
  encoded: Texts,
  exchange: Exchange,
): Promise<OperationInput> {
  // A `+` is a plus in a path.
  const path = checkPath(operation, (name) => decode(encoded[name]!.replaceAll('+', '%2B')));
  const query = withTimes(parseParameters({ parameters: operation.parameters ?? {} }, exchange.query));
  return { path, query, body: await readJsonBody(operation, exchange) };
}

/** Checks what a page of the console gives, as if it were a request. Only numbers may exceed their limits. */
export function checkInput(
  operation: AdminOperation,
  { path = {}, query = {}, body }: Partial<OperationInput>,
): OperationInput {
  for (const [name, value] of Object.entries(query)) {
    const parameter = operation.parameters![name]!;
    const code = typeof value === 'string' ? brokenRule(value, parameter.schema) : undefined;
    if (code !== undefined) throw refusal(code, factsOf(parameter), name);
  }
  return { path: checkPath(operation, (name) => path[name]), query: withTimes(query), body };
}

function checkPath(
  { pathParameters = {}, statuses = [] }: AdminOperation,
  textOf: (name: string) => string | undefined,
): Texts {
  return Object.fromEntries(
    Object.entries(pathParameters).map(([name, maxLength]) => {
      const text = textOf(name);
      const isSound = text !== undefined && isCleanText(text) && !holdsKey(text);
      if (!isSound) throw refusal('INVALID_CHARACTER', {}, name);
      if (isLongerThan(text, maxLength)) throw refusal('VALUE_TOO_LONG', { max: maxLength }, name);
      // What is stored stays readable and revocable.
      if (isDots(text) && statuses.includes(201)) throw refusalOfBody([dotsRejection(name)]);
      return [name, text];
    }),
  );
}

/** The query with its times in the form in which they are stored. */
function withTimes(values: Fields): Fields {
  const times: Record<string, string> = {};
  for (const name of ['since', 'until']) {
    if (values[name] === undefined) continue;
    const time = normalizeTime(String(values[name]));
    if (time === undefined) throw refusal('INVALID_TIME', {}, name);
    times[name] = time;
  }
  if (times.until !== undefined && (times.since ?? '') >= times.until) {
    throw refusal('INVALID_TIME', { field: 'since as a time before until' }, 'since');
  }
  return { ...values, ...times };
}

export const bodyLimits = {
  bytes: adminLimits.bodyBytes,
  ms: adminLimits.bodySeconds * 1_000,
  tooLarge: () => refusal('BODY_TOO_LARGE'),
};

/** Reads the JSON body of an operation. Undefined if it has none and may be without. */
async function readJsonBody(
  { bodies = [], isBodyOptional = false }: AdminOperation,
  exchange: Exchange,
): Promise<unknown> {
  if (bodies.length === 0 || (isBodyOptional && !hasBody(exchange))) return undefined;
  return parse(await readPlainBody(exchange, 'application/json', bodyLimits));
}

/** Returns a function that checks the body of an operation. Reports all mistakes. */
export function createBodyCheck({ bodies = [] }: AdminOperation): (value: unknown) => Fields {
  const checks = bodies.map((schema) => ({ schema, check: createChecker(schema) }));

  return (value) => {
    if (value === undefined) return {};
    const { check } = checks.find(({ schema }) => fits(schema, value)) ?? checks.at(-1)!;
    const { fields, rejections } = check(value);
    for (const [field, text] of Object.entries(fields)) {
      const mistake = typeof text === 'string' && field !== 'key' && mistakeIn(field, text);
      if (mistake) rejections.push({ code: 'INVALID_CHARACTER', field, detail: mistake });
    }
    if (rejections.length > 0) throw refusalOfBody(rejections);
    return fields;
  };
}

/** These texts are stored and shown, so they must not contain a key. A reason must have visible text. */
function mistakeIn(field: string, text: string): string | undefined {
  if (holdsKey(text)) return 'Remove the API key: this text is stored and shown.';
  const isSeen = field !== 'reason' || (text.trim() !== '' && printable(text) === text);
  return isSeen ? undefined : 'Write a reason that can be seen, without invisible characters.';
}

const notJson = { ...rejection('INVALID_JSON'), detail: 'Send one JSON object, in UTF-8.' };

function parse(body: Buffer): unknown {
  const reading = isUtf8(body) ? readJson(body.toString()) : { code: 'INVALID_JSON' as const };
  if ('value' in reading) return reading.value;
  throw refusalOfBody([reading.code === 'INVALID_JSON' ? notJson : rejection(reading.code, reading.path)]);
}

/** Whether a body is of this form: it has the first required field. */
function fits({ required }: RecordSchema, value: unknown): boolean {
  return required[0] === undefined || (typeof value === 'object' && value !== null && required[0] in value);
}

const badName = 'Write a name in UTF-8 to On-Behalf-Of, without invisible characters and keys.';

/** Who makes a change. The name in `On-Behalf-Of` is a claim of the sender. */
export function authorOf(
  { actor, details }: Caller,
  action: AuditAction,
  { rawHeaders }: Exchange,
  reason?: string,
): Author {
  const [name, ...others] = headerValues(rawHeaders, 'on-behalf-of').map((bytes) =>
    Buffer.from(bytes, 'latin1').toString(),
  );
  const field = 'On-Behalf-Of';
  if (others.length > 0) throw refusal('CONFLICTING_PARAMETERS', {}, field);
  if (name !== undefined) {
    const max = adminLimits.reasonCharacters;
    if (isLongerThan(name, max)) throw refusal('VALUE_TOO_LONG', { max }, field);
    if (name.trim() === '')
      throw refusal('VALUE_EMPTY', { remedy: 'set it to a name or leave it out' }, field);
    // A replacement character stands for bytes that are not UTF-8.
    const isReadable = printable(name) === name && !name.includes('\ufffd');
    if (!isReadable || !isCleanText(name) || holdsKey(name))
      throw refusalSaying('INVALID_CHARACTER', badName, field);
  }
  return { actor, action, reason, details: { ...details, on_behalf_of: name } };
}
