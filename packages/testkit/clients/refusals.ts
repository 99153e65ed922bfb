/** Which error a client makes of a response that is not a page. None of them is retried. */
import { type ErrorOutcome, refusal, type Scenario, type ScriptedAnswer } from './scenario.ts';

const foreign = ': the response is not from the service; check base_url and any proxy in between.';

/** Responses whose status is not retried, and the class of the error. */
const kinds: readonly [what: string, answer: ScriptedAnswer, kind: string, message: string][] = [
  [
    'an invalid request',
    refusal(400, 'INVALID_REQUEST_ERROR', 'VALUE_EMPTY'),
    'InvalidRequestError',
    ' VALUE_EMPTY.',
  ],
  ['an unknown key', refusal(401, 'AUTHENTICATION_ERROR', 'X'), 'AuthenticationError', ' X.'],
  ['a missing scope', refusal(403, 'AUTHENTICATION_ERROR', 'X'), 'AuthenticationError', ' X.'],
  ['a revoked key', refusal(401, 'API_KEY_ERROR', 'API_KEY_REVOKED'), 'ApiKeyError', ' API_KEY_REVOKED.'],
  ['no grant', refusal(403, 'GRANT_ERROR', 'GRANT_NOT_FOUND'), 'GrantError', ' GRANT_NOT_FOUND.'],
  ['a 409 with a new code of a known category', refusal(409, 'GRANT_ERROR', 'NEW'), 'GrantError', ' NEW.'],
  ['a 400 of a new category', refusal(400, 'NEW_ERROR', 'NEW'), 'InvalidRequestError', ' NEW.'],
  [
    'a 418 with a category that is a name in Object.prototype',
    refusal(418, 'constructor', 'X'),
    'ApiError',
    ' X.',
  ],
  ['an empty 401', { status: 401 }, 'AuthenticationError', foreign],
  ['a 403 of a firewall', { status: 403, body: '<html></html>' }, 'ApiError', foreign],
  ['an empty 404', { status: 404 }, 'ApiError', foreign],
  ['an empty 410', { status: 410 }, 'ApiError', foreign],
  ['a 501', { status: 501 }, 'ServerError', foreign],
  ['a 505 with a category of another status', refusal(505, 'GRANT_ERROR', 'ODD'), 'ServerError', ' ODD.'],
  ['errors that are not a list', { status: 422, body: { errors: {} } }, 'ApiError', foreign],
  ['errors that are not records', { status: 422, body: { errors: [null, 1, {}] } }, 'ApiError', foreign],
  ['an error that is not an object', { status: 422, body: '[]' }, 'ApiError', foreign],
  [
    'a 403 whose body breaks off',
    { status: 403, body: '{"errors":[]}', fault: 'cut in the body' },
    'ApiError',
    ': the body of the response did not arrive.',
  ],
  [
    'a redirect',
    { status: 307, headers: { location: 'http://127.0.0.1:9/elsewhere' } },
    'ApiError',
    ': the client does not follow redirects; check base_url.',
  ],
];

const notPages = ['{"brand":[]}', '[]', 'null', '{"brands":[],"cursor":7}', '{"brands":[{"id":"one"},null]}'];

const single = (promise: string, answer: ScriptedAnswer, error: ErrorOutcome): Scenario => ({
  promise,
  answers: [answer],
  outcomes: [{ pages: [], error }],
});

const record = { category: 'GRANT_ERROR', code: 'GRANT_REVOKED' };
const invalid = { category: 'INVALID_REQUEST_ERROR', code: 'VALUE_EMPTY', detail: 'Set it.', field: 'limit' };

export const refusals: readonly Scenario[] = [
  ...kinds.map(([what, answer, kind, said]) =>
    single(`${what} is ${kind}, and is not retried`, answer, {
      kind,
      status: answer.status!,
      message: `${answer.status}${said}`,
    }),
  ),
  ...notPages.map((body) =>
    single(
      `a 200 with ${body} is not a page, and is not retried`,
      { body },
      {
        kind: 'ApiError',
        status: 200,
        code: null,
        message: '200: the response is not a page of brands; check base_url.',
      },
    ),
  ),
  single(
    'an error has the values of the first record, all records, and the id of the request',
    {
      status: 400,
      headers: { 'x-request-id': 'r-1' },
      body: { errors: [invalid, record] },
    },
    {
      kind: 'InvalidRequestError',
      ...invalid,
      requestId: 'r-1',
      retryAfterMs: null,
      errors: [invalid, record],
      message: '400 VALUE_EMPTY: Set it. (request r-1)',
    },
  ),
  single(
    'the message of an error has no control characters',
    { status: 400, body: { errors: [{ ...invalid, detail: 'Set\nit\u001b[2J.' }] } },
    { kind: 'InvalidRequestError', message: '400 VALUE_EMPTY: Set\ufffdit\ufffd[2J.' },
  ),
  single(
    'ignores fields of an error record that are not strings, and records without a code',
    {
      status: 403,
      body: {
        errors: [
          null,
          { ...record, detail: { text: 'x' }, field: ['grant_id'], more: 'x' },
          { category: {}, code: 'OTHER', detail: 'Said.', field: null },
          { category: 'GRANT_ERROR', code: 7 },
        ],
      },
    },
    {
      kind: 'GrantError',
      message: '403 GRANT_REVOKED.',
      detail: null,
      field: null,
      errors: [record, { code: 'OTHER', detail: 'Said.' }],
    },
  ),
  single(
    'an error does not repeat the key, even if the response does',
    { fault: 'key in the error' },
    {
      kind: 'InvalidRequestError',
      message: '400 [API key]: [API key] (request to [API key])',
    },
  ),
  single(
    'cuts off a body that never ends',
    { fault: 'endless body' },
    {
      kind: 'ApiError',
      message: '200: the response is too long to be a page; check base_url.',
    },
  ),
];
