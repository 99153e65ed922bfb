/** What a request of the administrative API says: its path, its query, its body and its author. */
import { isUtf8 } from 'node:buffer';
import { echo, isCleanText, isLongerThan } from '@partner-network/common/text';
import { normalizeTime } from '@partner-network/common/times';
import { adminLimits } from '@partner-network/contract/admin/limits';
import type { AdminOperation } from '@partner-network/contract/admin/operations';
import { echoedCharacters } from '@partner-network/contract/limits';
import type { RecordSchema } from '@partner-network/contract/records';
import { encodingOfBody, hasBody, readBody, typeOfBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { decode } from '@partner-network/http/parameters/query';
import { refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import type { AdminKeyOnFile, Author } from '@partner-network/store/port';
import { createChecker } from '../ingest/check.ts';
import { readJson } from '../ingest/read/json.ts';
import { rejection } from '../ingest/rejections.ts';
import { adminRefusal, refusalOfBody } from './refusals.ts';

/** The status, if it is not 200, and the body of the answer. */
export interface Answered {
  readonly status?: number;
  readonly body: object;
}

export type Fields = Readonly<Record<string, string | number | undefined>>;

/** The parameters of the path. A `+` is a plus there. */
export function pathOf(
  { pathParameters = {} }: AdminOperation,
  encoded: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(pathParameters).map(([name, maxLength]) => {
      const text = decode(encoded[name]!.replaceAll('+', '%2B'));
      if (text === undefined || !isCleanText(text)) throw refusal('INVALID_CHARACTER', {}, name);
      if (isLongerThan(text, maxLength)) throw refusal('VALUE_TOO_LONG', { max: maxLength }, name);
      return [name, text];
    }),
  );
}

/** A time of the query, in the form in which times are stored. */
export function timeOf(values: Fields, name: string): string | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  const time = normalizeTime(String(text));
  if (time === undefined) throw adminRefusal('INVALID_TIME', {}, name);
  return time;
}

const limits = {
  bytes: adminLimits.bodyBytes,
  ms: adminLimits.bodySeconds * 1_000,
  tooLarge: () => adminRefusal('BODY_TOO_LARGE'),
};

/** Returns a function that reads and checks the JSON body of an operation. Reports all mistakes. */
export function createBodyReader({ bodies = [], isBodyOptional = false }: AdminOperation) {
  const checks = bodies.map((schema) => ({ schema, check: createChecker(schema) }));

  return async (exchange: Exchange): Promise<Fields> => {
    if (checks.length === 0 || (isBodyOptional && !hasBody(exchange))) return {};
    if (typeOfBody(exchange) !== 'application/json' || encodingOfBody(exchange) !== 'identity') {
      throw adminRefusal('UNSUPPORTED_MEDIA_TYPE', { types: 'application/json, without an encoding' });
    }
    const value = parse(await readBody(exchange, limits));
    const { check } = checks.find(({ schema }) => fits(schema, value)) ?? checks.at(-1)!;
    const { fields, rejections } = check(value);
    if (rejections.length > 0) throw refusalOfBody(rejections);
    return fields;
  };
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

/** Who makes a change. The name in `On-Behalf-Of` is a claim of the sender. */
export function authorOf(
  { id }: AdminKeyOnFile,
  action: string,
  { rawHeaders }: Exchange,
  reason?: string,
): Author {
  const [name, ...others] = headerValues(rawHeaders, 'on-behalf-of').map((bytes) =>
    Buffer.from(bytes, 'latin1').toString(),
  );
  const isSound =
    name !== undefined &&
    name !== '' &&
    isCleanText(name) &&
    !isLongerThan(name, adminLimits.reasonCharacters);
  if (name !== undefined && (!isSound || others.length > 0)) {
    const field = 'On-Behalf-Of';
    throw refusal('INVALID_CHARACTER', { field: `one header ${field} of 1 to 256 characters` }, field);
  }
  const details = name === undefined ? {} : { on_behalf_of: echo(name, echoedCharacters * 4) };
  return { actor: `admin-key:${id}`, action, reason, details };
}
