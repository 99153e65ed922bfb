import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findPersonalData, findPersonalKey, findPersonalValue } from '../../../src/ingest/personal-data.ts';
import { filledInnocents, pickedInnocents } from './innocents.ts';

/** Values of each kind, separated by " | ". */
const caught: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'an e-mail address': {
    plain: ['jane@example.com', 'JANE@EXAMPLE.COM', 'a@b.example', 'jane_doe@x.io', 'user@163.com'],
    'with a plus, dots, dashes or an apostrophe': ['jane+news@example.com', "j.o'brien-x@example.ie"],
    'of a subdomain': ['jane@mail.eu.example.co.uk'],
    'in other scripts': ['用户@例え.jp', 'jörg@müller.de', 'δοκιμή@παράδειγμα.δοκιμή', 'x@xn--e1a.xn--p1ai'],
    quoted: ['"jane doe"@example.com', '"a.@.b"@example.com', 'Jane <"jane doe"@example.com>'],
    'of an address of a machine in brackets': ['jane@[192.0.2.1]', 'jane@[IPv6:2001:db8::1]'],
    'in a text': [
      'contact: a@b.example please | mail jane@example.com. | (jane@example.com)',
      '联系jane@example.com谢谢',
    ],
    'in a markup or an address of the web': [
      '<jane@example.com> | mailto:jane@example.com | https://x.example/?u=jane@example.com',
    ],
    escaped: ['https://x.example/?u=jane%40example.com', 'jane%2Bnews%40example.com'],
    'with something after it': [
      'jane@example.com:word | jane@example.com,555 | jane@example.com;zoe@example.com',
    ],
    'after a text that is not an address': [
      '@brand.official jane@example.com | logo@2x.png jane@example.com',
      'git@x.example jane@example.com',
    ],
    disguised: [
      'jane＠example.com | jane﹫example.com | ja\u200bne@exam\u200bple.com | \u202ejane@example.com',
      'ｊane@example．com',
    ],
  },
  'a phone number': {
    'with a country': [
      '+44 20 7946 0958 | +442079460958 | +1 (555) 010-9999 | +1-212-555-0199 | +15550109999',
    ],
    'of other countries': [
      '+33 1 23 45 67 89 | +34 612 345 678 | +49 (0)30 901820 | +45 12 34 56 78 | +886 2 2345 6789',
    ],
    'with a country in brackets': ['(+44) 20 7946 0958', '+(44) 20 7946 0958'],
    'as registries write it': ['+1.7035555555', '+33.123456789'],
    'after 00': ['0044 20 7946 0958', '00 44 20 7946 0958', '0044 (0)20 7946 0958', '0049-30-901820'],
    'of North America': [
      '555-010-9999 | (555) 010-9999 | 555.010.9999 | (555)010-9999 | 555/010-9999 | 212 555 0199',
    ],
    'with the 1 before it': ['1-800-555-0199', '1 (212) 555-0199', '1 212 555 0199', '1.212.555.0199'],
    'with an extension': ['212-555-0199 x12', '212-555-0199x12', '(212) 555-0199 ext. 12'],
    'as dialed at home': [
      '020 7946 0958 | (020) 7946 0958 | (02) 9374 4000 | 0161 496 0000 | 07700 900123 | 01632 960 001',
      '090-1234-5678',
    ],
    'that may be a row of sizes': ['800 600 1024', '220-240-5060', '210 297 0420'],
    'after a word': [
      'tel:5550109999 | Tel. 030/1234567 | phone 5550109999 | Fax: 2079460958 | mobile=07700900123',
    ],
    'in a text': [
      'call 212-555-0199 at 2pm | ring +44 20 7946 0958. | x;212-555-0199;y | open 24 h, +442079460958',
    ],
    disguised: [
      '+４４ ２０ ７９４６ ０９５８ | +٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨ | ５５５－０１０－９９９９ | 555\u2011010\u20119999',
      '212\u00a0555\u00a00199',
    ],
    'with what cannot be seen': [
      '+44\u200b20\u200b7946\u200b0958 | 5\u200d55-010-9999 | 212-\u00ad555-0199 | 2️⃣1️⃣2️⃣-555-0199',
    ],
  },
  'a payment card number': {
    Visa: ['4111111111111111', '4012888888881881', '4222222222222', '4000000000000000006'],
    Mastercard: ['5555555555554444', '5105105105105100', '2223003122003222', '2720992593319364'],
    'American Express': ['378282246310005', '3782 822463 10005', '3714-496353-98431', '3782 8224 6310 005'],
    'Diners Club': ['30569309025904', '3056 930902 5904', '36227206271667', '38520000023237'],
    Discover: ['6011111111111117', '6011000990139424'],
    JCB: ['3530111333300000', '3566 0020 2036 0505'],
    'UnionPay and Maestro': ['6200000000000005', '6205500000000000004', '6759649826438453'],
    'grouped otherwise': [
      '4111.1111.1111.1111 | 4111  1111  1111  1111 | 4111 1111  1111 1111  123 | 3782.822463.10005',
    ],
    'right after a word that says so': ['card4111111111111111', 'Visa4111-1111-1111-1111'],
    grouped: ['4111 1111 1111 1111', '4111-1111-1111-1111', '41111111 11111111', '4000 0000 0000 0000 006'],
    'in a text': [
      'card 4111111111111111, 12/27 | paid by 4111 1111 1111 1111 123 | no. 4111-1111-1111-1111.',
      'card_4111111111111111',
    ],
    'that may be the number of an order': ['4000001234567899'],
    disguised: [
      '４１１１ １１１１ １１１１ １１１１ | 4111\u200b1111\u200b1111\u200b1111 | 4111\u20131111\u20131111\u20131111',
    ],
  },
  'a US social security number': {
    plain: ['123-45-6789', '078-05-1120', '899-99-9999', '001-01-0001'],
    'with spaces': ['123 45 6789'],
    'after a word': ['ssn:123456789 | SSN 123456789 | Social Security Number: 123456789 | SSN-123-45-6789'],
    'in a text': ['my ssn is 123-45-6789.', '(123-45-6789)', 'id=123-45-6789;x', 'no.123-45-6789'],
    disguised: ['１２３-４５-６７８９', '123\u201045\u20106789', '123-4\u200b5-6789', '١٢٣-٤٥-٦٧٨٩'],
  },
};

for (const [what, kinds] of Object.entries(caught)) {
  for (const [how, texts] of Object.entries(kinds)) {
    test(`catches ${what} ${how}`, () => {
      for (const text of texts.flatMap((row) => row.split(' | ')))
        assert.equal(findPersonalData(text), what, JSON.stringify(text));
    });
  }
}

test('reports none of more than a thousand harmless values', () => {
  assert.ok(new Set(pickedInnocents).size >= 150);
  assert.ok(new Set(filledInnocents.map(([, value]) => value)).size >= 1_000);
  const values = [...pickedInnocents.map((value) => ['picked', value] as const), ...filledInnocents];
  const found = values.map(([kind, value]) => [kind, value, findPersonalData(value)]);
  assert.deepEqual(
    found.filter(([, , what]) => what !== undefined),
    [],
  );
});

test('recognizes a card by its check digit, in any spelling', () => {
  const fifteen = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 15, maxLength: 15 });
  fc.assert(
    fc.property(fifteen, fc.constantFrom('', ' ', '-'), (digits, separator) => {
      const spelled = [...'0123456789'].map((last) =>
        `4${digits.slice(1)}${last}`.replaceAll(/.{4}(?=.)/g, `$&${separator}`),
      );
      assert.equal(spelled.filter((text) => findPersonalData(text) === 'a payment card number').length, 1);
    }),
  );
});

/** A mebibyte of each. */
const adversaries = [
  ...['a@', 'a@a.', 'git@a.bb ', '@a@bb.cc', '//a@bb.cc ', '"a"@a.b ', 'a@1.1.bb', 'é@', '%40'],
  ...['1', '1-', '4444 ', '4111111111111112 ', 'DE89 3704 ', '555-010-999 ', '12-345-6789 ', '123 45 '],
  ...['+1', '+44 12 ', '+12 500 000 ', '0020 ', '(', '(555', 'tel: ', 'tel: 2026-01-01 '],
  ...['１', '٤', '\u200b', '🦊'],
];

test('checks a mebibyte of any text within a second', () => {
  for (const piece of adversaries) {
    const text = piece.repeat((1024 * 1024) / Buffer.byteLength(piece));
    const before = process.cpuUsage();
    assert.equal(findPersonalData(text), undefined, piece);
    // It takes 5 to 40 ms of CPU. A pattern without a bound on its lookahead would take minutes.
    assert.ok(process.cpuUsage(before).user < 1_000_000, piece);
  }
});

test('finds personal data at the end of a mebibyte', () => {
  for (const piece of ['a@', '1-', '+44 ', 'x', 'é']) {
    const text = piece.repeat((1024 * 1024) / Buffer.byteLength(piece));
    assert.equal(findPersonalData(`${text} 123-45-6789`), 'a US social security number', piece);
    assert.equal(findPersonalData(`${text} jane@example.com`), 'an e-mail address', piece);
  }
});

test('reads bare digits by the meaning of their key', () => {
  const keys = [
    ...'phone Phone PHONE contact_phone contactPhone phoneNumber phone_number fax'.split(' '),
    ...'phone-number phone2 phone_1 phones phoneNumbers cellphone mobile_no mobilePhoneNumber'.split(' '),
  ];
  for (const key of keys) {
    for (const digits of ['2079460958', '2125550199', '07700900123'])
      assert.equal(findPersonalValue(key, digits), 'a phone number', key);
  }
  const numbers = ['ssnNumber', 'SSNNumber', 'ssn-no', 'ssn_2', 'ssns'];
  for (const key of ['ssn', 'SSN', 'owner_ssn', 'social_security_number', ...numbers]) {
    assert.equal(findPersonalValue(key, '123456789'), 'a US social security number', key);
  }
  for (const key of 'phone_count hotel telemetry cell_id fax_pages missn social tier'.split(' ')) {
    assert.equal(findPersonalValue(key, '123456789'), undefined, key);
  }
  const uuid = '12345678-1234-1234-1234-123456789012';
  for (const value of ['2026-01-31', '10 000 000', 'none', '12.345678', uuid, '1234567890abcdef']) {
    assert.equal(findPersonalValue('phone', value), undefined, value);
  }
});

test('reads the digits in a key by the meaning of its words', () => {
  for (const key of 'phone_2125550199 phone2125550199 contact-phone-2125550199 mobileNo07700900123'.split(
    ' ',
  )) {
    assert.equal(findPersonalKey(key), 'a phone number', key);
  }
  for (const key of ['ssn_123456789', 'ssn-123456789', 'ownerSsn123456789']) {
    assert.equal(findPersonalKey(key), 'a US social security number', key);
  }
  assert.equal(findPersonalKey('jane@example.com'), 'an e-mail address');
  for (const key of 'phone_count_1234567 cell_id_12345678 hotel_1234567 tier_2125550199 phone2'.split(' ')) {
    assert.equal(findPersonalKey(key), undefined, key);
  }
  for (const key of pickedInnocents) assert.equal(findPersonalKey(key), undefined, key);
});
