import { brandSchema } from '@partner-network/contract/records';
import type { Case } from '../case.ts';
import { faultsOf } from '../schema.ts';

export const samples: readonly Case[] = [
  {
    id: 'brands.record',
    section: '2.2',
    profile: 'specification',
    title: 'Every brand has the fields of the specification.',
    check: async (probe) => {
      const answer = await probe.get('/brands');
      const faults = faultsOf({ properties: { brands: { items: brandSchema } } }, answer.json, {
        allowsMore: true,
      });
      probe.expect(answer, faults.length === 0, `a brand by the specification: ${faults[0]}`);
    },
  },
  {
    id: 'brands.limit.zero',
    section: 'Errors',
    profile: 'decisions',
    title: 'A limit of 0 is VALUE_TOO_LOW.',
    check: async (probe) => {
      const answer = await probe.get('/brands', { limit: 0 });
      probe.expect(answer, answer.status === 400, 'status 400');
    },
  },
];
