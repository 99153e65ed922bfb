/** What a change of a partner means, for the command line and for the administrative API. */
import { toTime } from '@partner-network/common/times';
import { listings } from '@partner-network/contract/operations';
import { AlreadyExists, type Author, type Partner, type Store } from '@partner-network/store/port';
import { findPersonalData } from '../ingest/personal-data.ts';
import { Missing } from './errors.ts';

export async function requirePartner(store: Pick<Store, 'findPartner'>, id: string): Promise<Partner> {
  const partner = await store.findPartner(id);
  if (partner !== undefined) return partner;
  throw new Missing('partner', id, '"partner-network partners list" lists all partners.');
}

/** Rejects with AlreadyExists if the id is taken. */
export async function createPartner(store: Store, id: string, name: string, by: Author): Promise<Partner> {
  const partner = { id, name, created_at: toTime(Date.now()) };
  await store.createPartner(partner, { ...by, details: { ...by.details, ...namesForAudit({ name }) } });
  return partner;
}

export async function renamePartner(store: Store, id: string, name: string, by: Author): Promise<Partner> {
  for (;;) {
    const partner = await requirePartner(store, id);
    const { name: from } = partner;
    if (from === name) return partner;
    const author = { ...by, details: { ...by.details, ...namesForAudit({ from, to: name }) } };
    // False if somebody else has renamed it meanwhile.
    await store.renamePartner(id, from, name, author);
  }
}

/** Creates the partner, or gives it this name. Safe to repeat. */
export async function putPartner(
  store: Store,
  id: string,
  name: string,
  by: Author,
): Promise<{ readonly isNew: boolean; readonly partner: Partner }> {
  if ((await store.findPartner(id)) === undefined) {
    try {
      return { isNew: true, partner: await createPartner(store, id, name, by) };
    } catch (error) {
      // Another request has created it meanwhile.
      if (!(error instanceof AlreadyExists)) throw error;
    }
  }
  return {
    isNew: false,
    partner: await renamePartner(store, id, name, { ...by, action: 'partners rename' }),
  };
}

/** Safe to repeat: a partner that is disabled twice keeps the first time. */
export async function switchPartner(
  store: Store,
  id: string,
  isDisabled: boolean,
  by: Author,
): Promise<Partner> {
  await requirePartner(store, id);
  await store.setPartnerDisabled(id, isDisabled ? toTime(Date.now()) : undefined, by);
  return requirePartner(store, id);
}

/** Safe to repeat. Null stands for the default, and an absent limit stays. */
export async function limitPartner(
  store: Store,
  id: string,
  limits: Parameters<Store['limitPartner']>[1],
  by: Author,
): Promise<Partner> {
  await requirePartner(store, id);
  await store.limitPartner(id, limits, by);
  return requirePartner(store, id);
}

/** Such as "brands 20, balances default": requests per second. */
export function limitsInWords({ limits = {} }: Pick<Partner, 'limits'>): string {
  return listings.map(({ name }) => `${name} ${limits[name] ?? 'default'}`).join(', ');
}

/** Leaves out a name that looks like personal data: audit entries cannot be deleted. */
function namesForAudit(names: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(names).filter(([, name]) => findPersonalData(name) === undefined));
}
