/** The import beside the bulk path of either engine, as `npm run bench:import` measures it. */
import { orders } from '../import/data.ts';
import { engines, measure, shareOf } from '../import/measure.ts';

/** How much of the rate of an engine's bulk path an import has. */
export interface ImportShare {
  readonly name: string;
  readonly share: number;
}

const rows = 1_000_000;

/** One takes minutes. */
const mostRounds = 3;

export async function measureImport(rounds: number): Promise<ImportShare[]> {
  const measured = await measure({
    rows,
    rounds: Math.min(rounds, mostRounds),
    engines,
    orders,
    ways: ['bare', 'imported'],
  });
  return measured.map(({ engine, order, outcomes }) => ({
    name: `${engine}, ${order}`,
    share: shareOf(outcomes, 'bare'),
  }));
}
