import { counted } from '@partner-network/common/text';
import { readErasure } from '../../ingest/exported.ts';
import { changing } from '../database.ts';
import { readWholeFile } from './whole-file.ts';

/** Repeats the erasures of another database: after a restore, and after a move. */
export const importErasures = changing('import erasures', {
  ifFailed: 'Assume that nothing was erased until this command succeeds.',
  arguments: [{ name: 'FILE', help: 'output of "export erasures", or - for standard input' }],
  options: {},
  run: async (store, _values, [file = ''], output, by) => {
    const remedy = 'FILE must be the output of "export erasures".';
    const customers = await readWholeFile(file, output, readErasure, remedy);
    const counts = await store.importErasures(customers, by);
    const { erased, balances, grants } = counts;
    const deleted = `${counted(balances, 'balance')} and ${counted(grants, 'grant')}`;
    return {
      value: { read: customers.length, ...counts },
      text: `${customers.length} read, ${counted(erased, 'customer')} erased: deleted ${deleted}.`,
    };
  },
});
