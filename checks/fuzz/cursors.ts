/** Fuzzes cursors: changes them in many ways, and opens them in the wrong scope. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Refusal } from '../../packages/http/src/refusal.ts';
import { createCursors, type Position } from '../../packages/service/src/cursors.ts';
import type { Target } from './run.ts';
import { anyCharacter, anyText, type Edit, edited, editWith } from './words.ts';

const longestCursor = 1_024;
const dayMs = 24 * 3_600_000;

export const cursors: Target = {
  name: 'cursors',
  promise: 'a cursor opens unchanged in its own scope, and is refused with the same error in all other cases',
  batchRuns: 500,
  open: async () => ({
    property: fc.property(scope, position, scope, change, change, elapsedMs, keyIds, judge),
  }),
};

interface Scope {
  readonly endpoint: string;
  readonly partnerId: string;
  readonly filters: readonly (string | undefined)[];
}

const plain = { noNullPrototype: true };

const word = fc.oneof(
  fc.constantFrom('acme', 'zenith', 'alice', 'CHECKING', '', 'null', '"', 'a","b'),
  anyText(20),
);
const scope: fc.Arbitrary<Scope> = fc.record(
  {
    endpoint: fc.constantFrom('listBrands', 'listBalances'),
    partnerId: word,
    filters: fc.array(fc.option(word, { nil: undefined }), { minLength: 1, maxLength: 2 }),
  },
  plain,
);

const unit = fc.oneof(anyCharacter, fc.constantFrom('a', '🦊', 'é'));
/** An id of the greatest length, made of two characters, so that all sizes in bytes occur. */
const longId = fc
  .tuple(unit, unit, fc.nat(256))
  .map(([one, other, at]) => one.repeat(at) + other.repeat(256 - at));
const position: fc.Arbitrary<Position> = fc.record(
  {
    after: fc.oneof(anyText(256), longId),
    walPosition: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  },
  plain,
);

/** A change of the cursor's text, or of the bytes that it encodes. */
const change = fc.tuple(
  fc.constantFrom('latin1' as const, 'base64url' as const),
  editWith(fc.nat(255).map((byte) => String.fromCharCode(byte))),
);
type Change = [encoding: 'latin1' | 'base64url', edit: Edit];

const elapsedMs = fc.oneof(fc.nat(2 * dayMs), fc.constantFrom(0, 1, dayMs - 1, dayMs, dayMs + 1));
const keyIds = fc.uniqueArray(fc.nat(255), { minLength: 2, maxLength: 4 });

function changed(cursor: string, [encoding, edit]: Change): string {
  const bytes = Buffer.from(cursor, encoding).toString('latin1');
  return Buffer.from(edited(bytes, edit), 'latin1').toString(encoding);
}

function keyOf(id: number, name: string) {
  return { id, secret: createHash('sha256').update(`${name} ${id}`).digest() };
}

function judge(
  own: Scope,
  sealed: Position,
  other: Scope,
  first: Change,
  second: Change,
  elapsed: number,
  ids: readonly number[],
): void {
  const [sealing, older] = ids as [number, number];
  const clock = { ms: 1_750_000_000_000 };
  const keys = ids.map((id) => keyOf(id, 'ours'));
  const service = createCursors(keys, 'sandbox', () => clock.ms);
  const cursor = service.seal(own, sealed);
  assert.match(cursor, /^[A-Za-z0-9_-]+$/);
  assert.ok(cursor.length <= longestCursor, `${cursor.length} characters`);
  assert.deepEqual(service.open(own, cursor), sealed);

  const refused = (opener: typeof service, where: Scope, text: string, what: string) =>
    assert.deepEqual(
      refusalOf(() => opener.open(where, text)),
      theRefusal,
      what,
    );
  for (const text of [changed(cursor, first), changed(changed(cursor, first), second)])
    if (text !== cursor) refused(service, own, text, `changed to ${text}`);
  if (!isDeepStrictEqual(own, other)) refused(service, other, cursor, 'of another search');
  refused(
    createCursors(keys, 'production', () => clock.ms),
    own,
    cursor,
    'of the other environment',
  );
  const strange = createCursors([keyOf(sealing, 'theirs')], 'sandbox', () => clock.ms);
  refused(strange, own, cursor, 'sealed with another key of this id');
  const without = createCursors(keys.slice(1), 'sandbox', () => clock.ms);
  refused(without, own, cursor, 'sealed with a key that is gone');
  const ofOlder = without.seal(own, sealed);
  assert.equal(Buffer.from(ofOlder, 'base64url')[0], older);
  assert.deepEqual(service.open(own, ofOlder), sealed, 'an older key still opens');

  clock.ms += elapsed;
  if (elapsed < dayMs) assert.deepEqual(service.open(own, cursor), sealed);
  else refused(service, own, cursor, 'expired');
}

const theRefusal = {
  status: 400,
  errors: [
    {
      category: 'INVALID_REQUEST_ERROR',
      code: 'INVALID_CURSOR',
      detail:
        'Start again without a cursor, and send each cursor back unchanged with the same other parameters.',
      field: 'cursor',
    },
  ],
};

function refusalOf(open: () => unknown): unknown {
  try {
    return { opened: open() };
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) return thrown;
    return { status: thrown.status, errors: thrown.errors };
  }
}
