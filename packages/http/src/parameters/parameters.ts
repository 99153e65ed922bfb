import { suggest } from '@partner-network/common/suggest';
import { brokenRule, echo, isPlainInteger } from '@partner-network/common/text';
import { type ErrorCode, type ErrorRecord, errorRecord } from '@partner-network/contract/errors';
import { echoedCharacters, maxErrors } from '@partner-network/contract/limits';
import { factsOf, type Operation, type Parameter, renamingTo } from '@partner-network/contract/operations';
import { Refusal } from '../refusal.ts';
import { decode, splitQuery } from './query.ts';

type Value<P extends Parameter> = P['schema'] extends { type: 'integer' } ? number : string;

type Parametrized = Pick<Operation, 'parameters'>;

/** The values of an operation's parameters. An absent one is undefined, unless it has a default. */
export type ParameterValues<O extends Parametrized> = {
  readonly [Name in keyof O['parameters']]: O['parameters'][Name] extends
    | { required: true }
    | { schema: { default: number } }
    ? Value<O['parameters'][Name]>
    : Value<O['parameters'][Name]> | undefined;
};

/** Reads all parameters, or refuses with the errors of known parameters in order, then of unknown ones. */
export function parseParameters<O extends Parametrized>(operation: O, query: string): ParameterValues<O> {
  const sent = splitQuery(query);
  const values: Record<string, string | number | undefined> = {};
  const errors: ErrorRecord[] = [];

  // With Object.entries and a list of unknown names, a request without parameters takes 0.7 µs more.
  for (const name in operation.parameters) {
    const parameter = operation.parameters[name]!;
    const result = read(sent.get(name), parameter);
    sent.delete(name);
    if (typeof result === 'object') errors.push(errorRecord(result.code, factsOf(parameter), name));
    else values[name] = result;
  }
  if (sent.size === 0 && errors.length === 0) return values as ParameterValues<O>;

  const known = Object.keys(operation.parameters);
  for (const name of [...sent.keys()].slice(0, maxErrors - errors.length)) {
    const field = echo(name, echoedCharacters);
    const nearest = suggest(field, known);
    const facts = {
      name: field === '' ? 'without a name' : field,
      renaming: nearest === undefined ? '' : renamingTo(nearest),
    };
    errors.push(errorRecord('UNKNOWN_QUERY_PARAMETER', facts, field));
  }

  const [first, ...rest] = errors;
  if (first !== undefined) throw new Refusal([first, ...rest]);
  return values as ParameterValues<O>;
}

/** The valid parameters of a request that was refused, for its receipt. */
export function validParameters<O extends Parametrized>(
  operation: O,
  query: string,
): Partial<ParameterValues<O>> {
  const sent = splitQuery(query);
  const valid = Object.entries(operation.parameters).flatMap(([name, parameter]) => {
    const value = read(sent.get(name), parameter);
    return typeof value === 'object' ? [] : [[name, value]];
  });
  return Object.fromEntries(valid);
}

interface Refused {
  readonly code: ErrorCode;
}

/** A parameter's value, or its first error: given twice, encoding, a rule for texts, a rule for numbers. */
function read(
  texts: readonly string[] | undefined,
  { required, schema }: Parameter,
): string | number | undefined | Refused {
  if (texts === undefined) {
    if (required) return { code: 'MISSING_REQUIRED_PARAMETER' };
    return schema.type === 'integer' ? schema.default : undefined;
  }
  if (texts.length > 1) return { code: 'CONFLICTING_PARAMETERS' };
  const text = decode(texts[0]!);
  if (text === undefined) return { code: 'INVALID_CHARACTER' };
  const code = brokenRule(text, schema);
  if (code !== undefined) return { code };
  return schema.type === 'integer' ? readInteger(text, schema) : text;
}

function readInteger(text: string, schema: { minimum: number; maximum: number }): number | Refused {
  if (!isPlainInteger(text)) return { code: 'EXPECTED_INTEGER' };
  if (Number(text) < schema.minimum) return { code: 'VALUE_TOO_LOW' };
  return Number(text) > schema.maximum ? { code: 'VALUE_TOO_HIGH' } : Number(text);
}
