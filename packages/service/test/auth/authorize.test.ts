/** What a key and a grant allow, without a service: `npm run check -- mutate` needs quick tests. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeyOnFile } from '../../../store/src/port.ts';
import { requireGrant, requireScope } from '../../src/auth/authenticate.ts';

const key: KeyOnFile = {
  ...{ id: 'KEY_1', partnerId: 'acme', scopes: ['BRANDS_READ'], expiresAt: undefined },
  ...{ isRevoked: false, isPartnerDisabled: false },
};

test('a key without the scope is refused with the name of the scope', () => {
  requireScope(key, 'BRANDS_READ');
  assert.throws(() => requireScope(key, 'BALANCES_READ'), {
    status: 403,
    errors: [
      {
        category: 'AUTHENTICATION_ERROR',
        code: 'INSUFFICIENT_SCOPES',
        detail: 'Use a key with the scope BALANCES_READ.',
      },
    ],
  });
});

test('an active grant opens its page', () => {
  const page = { records: '', bytes: 0, next: undefined };
  const answer = { grant: 'ACTIVE', grantId: 'g', page } as const;
  assert.equal(requireGrant(answer, 'g'), answer);
  assert.equal(requireGrant(answer, undefined), answer);
});

test('any other grant is refused by its status, with the field only if the request has a grant_id', () => {
  for (const grant of ['NOT_FOUND', 'EXPIRED', 'REVOKED', 'CONSUMED'] as const) {
    const refusedWith = (grantId: string | undefined) => {
      try {
        return requireGrant({ grant }, grantId);
      } catch (thrown) {
        const { status, errors } = thrown as { status: number; errors: { code: string; field?: string }[] };
        return [status, ...errors.map(({ code, field }) => [code, field])];
      }
    };
    assert.deepEqual(refusedWith('g'), [403, [`GRANT_${grant}`, 'grant_id']]);
    assert.deepEqual(refusedWith(undefined), [403, [`GRANT_${grant}`, undefined]]);
  }
});
