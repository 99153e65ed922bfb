import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPersonalKey, findPersonalValue } from '../../../src/ingest/personal-data.ts';
import { pickedInnocents } from './innocent-values.ts';

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
