import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { grantStatuses } from '../src/port.ts';
import { type GrantLine, judge, type StoredGrant, type Verdict } from '../src/sql/consent.ts';

const minute = (number: number) => new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
const [created, early, stored, late] = [0, 1, 2, 3].map(minute) as [string, string, string, string];
const [soon, later, latest] = [10, 20, 30].map(minute) as [string, string, string];

const base = {
  partner_id: 'acme',
  action: 'CHECKING_BALANCE',
  created_at: created,
  updated_at: stored,
} as const;

const active: StoredGrant = { ...base, status: 'ACTIVE' };
const expiring: StoredGrant = { ...active, expires_at: later };
const revoked: StoredGrant = { ...base, status: 'REVOKED' };
const revokedExpiring: StoredGrant = { ...revoked, expires_at: later };

/** A line that gives its time and says nothing else. */
const line = (change: Partial<GrantLine> = {}): GrantLine => ({ ...base, isTimed: true, ...change });
const at = (updated_at: string, change: Partial<GrantLine> = {}) => line({ updated_at, ...change });
/** The end of a consent. */
const end = { status: 'REVOKED' } as const;
/** Another partner. */
const zenith = { partner_id: 'zenith' };

const written = (grant: StoredGrant, change: Partial<StoredGrant> = {}): Verdict => ({
  outcome: 'written',
  grant: { ...grant, ...change },
});
const unchanged: Verdict = { outcome: 'unchanged' };
const stale: Verdict = { outcome: 'stale' };
const rejected = (field: string): Verdict => ({ outcome: 'rejected', code: 'IMMUTABLE_FIELD', field });

type Case = readonly [what: string, stored: StoredGrant | undefined, line: GrantLine, verdict: Verdict];

const cases: Readonly<Record<string, readonly Case[]>> = {
  'a new grant is written, active by default': [
    ['without a status', undefined, line(), written(active)],
    ['with a final status', undefined, line({ status: 'CONSUMED' }), written(active, { status: 'CONSUMED' })],
    ['with an expiry', undefined, line({ expires_at: later }), written(expiring)],
    ['with a null expiry', undefined, line({ expires_at: '' }), written(active)],
  ],
  'an older line of the same partner is stale, whatever else it says': [
    ['the same content', active, at(early), stale],
    ['an earlier expiry', expiring, at(early, { expires_at: soon }), stale],
    ['a later expiry', expiring, at(early, { expires_at: latest }), stale],
    ['an active line for a final grant', revoked, at(early, { status: 'ACTIVE' }), stale],
  ],
  'a newer line is written, and an equal one is unchanged': [
    ['a newer time alone', active, at(late), written(active, { updated_at: late })],
    ['a newer time that is not given', active, at(late, { isTimed: false }), unchanged],
    ['the same time', active, line({ status: 'ACTIVE' }), unchanged],
    ['an absent expiry keeps the stored one', expiring, at(late), written(expiring, { updated_at: late })],
    ['the stored expiry', expiring, line({ expires_at: later }), unchanged],
    ['a null expiry where none is stored', active, line({ expires_at: '' }), unchanged],
    ['another created_at is ignored', active, line({ created_at: early }), unchanged],
  ],
  'the expiry moves earlier, never later': [
    ['a first expiry', active, line({ expires_at: later }), written(active, { expires_at: later })],
    ['an earlier one', expiring, line({ expires_at: soon }), written(expiring, { expires_at: soon })],
    [
      'an earlier one without a given time',
      expiring,
      at(late, { expires_at: soon, isTimed: false }),
      written(expiring, { expires_at: soon, updated_at: late }),
    ],
    ['a later one', expiring, at(late, { expires_at: latest }), rejected('expires_at')],
    ['null', expiring, at(late, { expires_at: '' }), rejected('expires_at')],
  ],
  'a line with another partner is rejected before its time, status and expiry are read': [
    ['newer', active, at(late, zenith), rejected('partner_id')],
    ['older', active, at(early, zenith), rejected('partner_id')],
    ['final', active, at(late, { ...zenith, status: 'REVOKED' }), rejected('partner_id')],
    ['final and older', active, at(early, { ...zenith, status: 'EXPIRED' }), rejected('partner_id')],
    ['for a final grant', revoked, at(late, zenith), rejected('partner_id')],
    ['earlier than the end', revoked, at(early, { ...zenith, status: 'EXPIRED' }), rejected('partner_id')],
    ['a later expiry', expiring, at(late, { ...zenith, expires_at: latest }), rejected('partner_id')],
  ],
  'a final status is always taken': [
    ['newer', active, at(late, end), written(active, { ...end, updated_at: late })],
    ['at the same time', active, line({ ...end, isTimed: false }), written(active, end)],
    ['older', active, at(early, end), written(active, { ...end, updated_at: early })],
    [
      'older than the creation',
      { ...active, created_at: early },
      at(created, end),
      written(active, { ...end, created_at: early, updated_at: early }),
    ],
    ['at the creation', active, at(created, end), written(active, { ...end, updated_at: created })],
    ['with a later expiry', expiring, line({ ...end, expires_at: latest }), written(revokedExpiring)],
    ['with a null expiry', expiring, line({ ...end, expires_at: '' }), written(revokedExpiring)],
    ['without an expiry', expiring, line(end), written(revokedExpiring)],
    [
      'with an earlier expiry',
      expiring,
      line({ ...end, expires_at: soon }),
      written(revoked, { expires_at: soon }),
    ],
    [
      'with a first expiry',
      active,
      line({ ...end, expires_at: soon }),
      written(revoked, { expires_at: soon }),
    ],
    ['that is consumed', active, line({ status: 'CONSUMED' }), written(active, { status: 'CONSUMED' })],
  ],
  'a final status stays': [
    ['an active line', revoked, line({ status: 'ACTIVE' }), stale],
    ['a newer active line', revoked, at(late, { status: 'ACTIVE' }), stale],
    ['another final status', revoked, line({ status: 'CONSUMED' }), stale],
    ['a newer final status', revoked, at(late, { status: 'EXPIRED' }), stale],
    ['the same status', revoked, at(late, { status: 'REVOKED' }), unchanged],
    ['no status', revoked, at(late), unchanged],
    ['another expiry', revokedExpiring, at(late, { expires_at: soon }), stale],
    ['a later expiry', revokedExpiring, at(late, { status: 'REVOKED', expires_at: latest }), stale],
    [
      'a final status with an earlier time was the first',
      revoked,
      at(early, { status: 'EXPIRED' }),
      written(revoked, { status: 'EXPIRED', updated_at: early }),
    ],
  ],
};

for (const [promise, all] of Object.entries(cases)) {
  test(promise, () => {
    for (const [what, before, given, verdict] of all) assert.deepEqual(judge(before, given), verdict, what);
  });
}

const time = fc.integer({ min: 1, max: 9 }).map(minute);
const anyLine: fc.Arbitrary<GrantLine> = fc.record({
  partner_id: fc.constantFrom('acme', 'zenith'),
  action: fc.constant('CHECKING_BALANCE' as const),
  status: fc.option(fc.constantFrom(...grantStatuses), { nil: undefined }),
  expires_at: fc.option(fc.constantFrom('', soon, later, latest), { nil: undefined }),
  created_at: fc.constant(created),
  updated_at: time,
  isTimed: fc.boolean(),
}) as fc.Arbitrary<GrantLine>;

test('no line gives a grant more than it had', () => {
  fc.assert(
    fc.property(fc.array(anyLine, { maxLength: 8 }), (lines) => {
      let grant: StoredGrant | undefined;
      for (const given of lines) {
        const verdict = judge(grant, given);
        if (verdict.outcome !== 'written') continue;
        const next = verdict.grant;
        if (grant !== undefined) {
          assert.equal(next.partner_id, grant.partner_id);
          assert.equal(next.created_at, grant.created_at);
          assert.ok(grant.status === 'ACTIVE' || next.status !== 'ACTIVE');
          assert.ok((next.expires_at ?? '9') <= (grant.expires_at ?? '9'));
        }
        assert.ok(next.updated_at >= next.created_at);
        grant = next;
      }
    }),
  );
});
