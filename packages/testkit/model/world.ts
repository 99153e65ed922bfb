/** A database for the events of the model, and its exports. */
import type { Store } from '../../store/src/port.ts';
import { byTest, createdAt } from '../fixtures/fixture.ts';
import { type Kind, type ModelEvent, partners } from './events.ts';
import { steadyPrefix } from './expected.ts';

/** The partner that may always read all balances. */
export const steadyPartner = partners[0];

export async function fillModelWorld(store: Store, events: readonly ModelEvent[]): Promise<void> {
  for (const id of partners) await store.createPartner({ id, name: id, created_at: createdAt }, byTest);
  const balances = events.filter(({ kind }) => kind === 'balances');
  for (const customerId of new Set(balances.map(({ line }) => String(line.customer_id)))) {
    await store.createGrant(
      {
        id: `${steadyPrefix}${customerId}`,
        partner_id: steadyPartner,
        customer_id: customerId,
        action: 'CHECKING_BALANCE',
        status: 'ACTIVE',
        created_at: createdAt,
        updated_at: createdAt,
      },
      byTest,
    );
  }
}

export async function exportAll(store: Store): Promise<Record<Kind, string[]>> {
  const lines: Record<Kind, string[]> = { brands: [], balances: [], grants: [] };
  for (const kind of ['brands', 'balances', 'grants'] as const) {
    await store.exportRecords({ kind }, async (some) => {
      lines[kind].push(...some.split('\n').filter((line) => line !== ''));
    });
  }
  return lines;
}
