/** A report contains no value of a real deployment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keys } from '../../../testkit/fixtures/fixture.ts';
import type { Supplied } from '../../src/conformance/probe.ts';
import { createRedaction } from '../../src/conformance/report.ts';
import type { Answer } from '../../src/conformance/send.ts';

const supplied: Supplied = {
  PARTNER_NETWORK_API_KEY: keys.acme,
  PARTNER_NETWORK_REVOKED_API_KEY: 'zQ8~x.AnotherForm_of-a-Key/7Hk2+Lp9Xv4Tb1Nc6Rd==',
  PARTNER_NETWORK_CUSTOMER_ID: 'CUSTOMER/1 001',
  PARTNER_NETWORK_GRANT_ID: 'g1',
};
const { mask, shownAnswer, shownRequest } = createRedaction(supplied);

const noAnswer = { sent: '', path: '/', sentMs: 0, answeredMs: 0, failure: undefined };

function answerOf(status: number, content: unknown, rawHeaders: string[] = []): Answer {
  const isText = typeof content === 'string';
  const text = isText ? content : JSON.stringify(content);
  const json = isText ? undefined : content;
  const body = Buffer.from(text);
  return { ...noAnswer, status, rawHeaders, header: () => undefined, body, text, json };
}

test('a request shows variables and lengths in place of values', () => {
  const sent =
    'GET /brands?limit=5&type=CHECKING&cursor=abc&reference_id=ref' +
    '&customer_id=CUSTOMER%2F1%20001&x&y=&grant_id=g1&z=a=b HTTP/1.1\r\n' +
    `Authorization: Bearer ${keys.acme}\r\nX: Bearer ${keys.zenith}\r\n\r\n`;
  const shown =
    'GET /brands?limit=5&type=CHECKING&cursor=<3 characters>&reference_id=<3 characters>' +
    '&customer_id=$PARTNER_NETWORK_CUSTOMER_ID&x&y=&grant_id=$PARTNER_NETWORK_GRANT_ID&z=<3 characters>' +
    ' HTTP/1.1\nAuthorization: Bearer $PARTNER_NETWORK_API_KEY\nX: Bearer [key]';
  assert.equal(shownRequest({ ...answerOf(200, {}), sent }), shown);
});

test('records show the names of fields and the kinds of values', () => {
  const balance = { id: 'BAL_1', amount: 125_050, none: null, rate: 1.5, is_open: true, text: '' };
  const brand = { metadata: { secretName: 'secret' }, '17 Main Street': 1, deep: { er: [] } };
  const answer = answerOf(200, { balances: [balance, brand], cursor: 'abc' });
  assert.equal(
    shownAnswer(answer),
    `200

{
  "balances": [
    {
      "id": <string>,
      "amount": <integer>,
      "none": null,
      "rate": <number>,
      "is_open": <boolean>,
      "text": ""
    },
    {
      "metadata": <object>,
      <name>: <integer>,
      "deep": {
        "er": []
      }
    }
  ],
  "cursor": <string>
}`,
  );
});

test('an error shows its texts without long numbers and words, and only these texts', () => {
  const detail = 'Balance 125050, $1,250.50 and cursor AfD5TgmJOnp1QN8iRH4Qwyi6 of limit 1024.';
  const error = { category: 'API_ERROR', code: 'API_KEY_ENVIRONMENT_MISMATCH', detail, other: 'hidden' };
  const shown = shownAnswer(answerOf(400, { errors: [error], balances: [{ detail: 'shown', amount: 77 }] }));
  assert.match(shown, /"detail": "Balance <…>, \$<…> and cursor <…> of limit 1024\."/);
  assert.match(shown, /"code": "API_KEY_ENVIRONMENT_MISMATCH"/);
  assert.match(shown, /"other": <string>/);
  assert.doesNotMatch(shown, /hidden|125050|77/);
  // An answer that should have been a page may have such fields too.
  assert.doesNotMatch(shownAnswer(answerOf(200, { brands: [{ code: 'secret' }] })), /secret/);
});

test('a body that is not JSON, and headers that are not of the API, show their lengths', () => {
  const headers = { 'Content-Type': 'text/html', 'Set-Cookie': 'session=1', Location: 'https://internal/' };
  const rawHeaders = Object.entries(headers).flat();
  const shown = shownAnswer(answerOf(502, '<h1>125050</h1>', rawHeaders));
  assert.equal(
    shown,
    '502\nContent-Type: text/html\nSet-Cookie: <9 characters>\nLocation: <17 characters>' +
      '\n\n<not JSON, 15 bytes>',
  );
  const many = Array.from({ length: 1_000 }, (_, index) => (index % 2 ? 'v'.repeat(1_000) : `date${index}`));
  assert.ok(shownAnswer(answerOf(200, '', many)).length < 40 * 500);
});

test('deeply nested and very long answers are shown in part', () => {
  const deep = JSON.parse(`${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`);
  assert.match(shownAnswer({ ...answerOf(200, {}), json: deep }), /too deep/);
  const wide = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`f${'x'.repeat(index % 40)}`, index]),
  );
  assert.ok(mask(shownAnswer(answerOf(200, wide))).length < 4_100);
  assert.ok(mask('long '.repeat(100_000)).length < 4_100);
});

/** How a service may repeat a value. */
const forms: Readonly<Record<string, (value: string) => string>> = {
  'in a sentence': (value) => `The key ${value} is unknown.`,
  'cut at its end': (value) => value.slice(0, -3),
  reversed: (value) => [...value].reverse().join(''),
  'percent-encoded': (value) => Buffer.from(value).toString('hex').replace(/../g, '%$&'),
  'escaped as in JSON': (value) => Buffer.from(value).toString('hex').replace(/../g, '\\u00$&'),
  hexadecimal: (value) => Buffer.from(value).toString('hex'),
  base64: (value) => Buffer.from(value).toString('base64'),
  'base64 of the whole header': (value) => Buffer.from(`Bearer ${value}`).toString('base64'),
  'in two halves': (value) => `${value.slice(0, 25)} and ${value.slice(25)}`,
};

for (const [name, form] of Object.entries(forms)) {
  test(`a key is masked in an error and in a header: ${name}`, () => {
    for (const key of [keys.acme, supplied.PARTNER_NETWORK_REVOKED_API_KEY!]) {
      const text = form(key);
      const errors = [{ code: 'X', detail: `before ${text} after` }];
      const shown = shownAnswer(answerOf(400, { errors }, ['X-Request-Id', text]));
      assert.match(shown, /before .* after/);
      for (let at = 20; at + 20 <= text.length; at += 1)
        assert.ok(!shown.includes(text.slice(at, at + 16)) || /[^!-~]/.test(text.slice(at, at + 16)), shown);
    }
  });
}

test('a key that was not supplied is masked by its form', () => {
  assert.equal(mask(`x ${keys.zenith} y pn_live_abc`), 'x [key] y [key]');
  assert.equal(mask('Use a key that starts with pn_test_.'), 'Use a key that starts with pn_test_.');
});

test('supplied ids are replaced by their variables: long ones anywhere, short ones as words', () => {
  assert.equal(mask('xCUSTOMER/1 001x'), 'x$PARTNER_NETWORK_CUSTOMER_IDx');
  assert.equal(mask('CUSTOMER%2F1%20001'), '$PARTNER_NETWORK_CUSTOMER_ID');
  const ids = { PARTNER_NETWORK_CUSTOMER_ID: 'customer-1', PARTNER_NETWORK_GRANT_ID: 'customer-1-grant' };
  assert.equal(createRedaction(ids).mask('customer-1-grant'), '$PARTNER_NETWORK_GRANT_ID');
  assert.equal(
    mask('grant g1, msg10, "g1"'),
    'grant $PARTNER_NETWORK_GRANT_ID, msg10, "$PARTNER_NETWORK_GRANT_ID"',
  );
});

test('control characters are replaced', () => {
  assert.equal(mask('a\u001b[31mb\r\u0000\u202e\nc\ud800'), 'a\ufffd[31mb\ufffd\ufffd\ufffd\nc\ufffd');
});
