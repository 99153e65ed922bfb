/** The sections of the bench, and the contenders of each. */
import { type Contender, floors, ofLarge, ours, refused, type Stage } from './contenders/contenders.ts';
import { peersUnderLoad } from './contenders/peers.ts';
import { pgbench } from './contenders/pgbench.ts';
import { engineNames } from './services.ts';

export const sections = {
  embedded: 'list brands and list balances on the embedded database, compared with the floor',
  postgres: 'the same on Postgres, and its own CPU compared with pgbench',
  peers: 'other frameworks that serve the same pages',
  size: 'the middle page of 1,000,000 brands compared with the first page of 10,000',
  refused: 'requests answered with 401 and 429, compared with admitted requests',
  memory: 'memory of a process on the embedded database during 200,000 requests',
  start: 'serve on the embedded database, from its start to its first answer',
  import: 'the import compared with the bulk load of each engine (npm run bench -- import)',
} as const;

export type Section = keyof typeof sections;
export const sectionNames = Object.keys(sections) as Section[];

export const needsPostgres = (chosen: readonly Section[]) =>
  chosen.some((name) => !['embedded', 'memory', 'start'].includes(name));

/** All contenders of these sections, each once. Contenders that are compared run one after the other. */
export async function contendersOf(stage: Stage, chosen: readonly Section[]): Promise<Contender[]> {
  const has = (...names: Section[]) => names.some((name) => chosen.includes(name));
  const found: Contender[] = has('embedded', 'postgres', 'peers') ? await floors(stage) : [];
  for (const engine of engineNames) {
    const isCompared = has('size', 'refused') || (engine === 'postgres' && has('peers'));
    if (has(engine)) found.push(...(await ours(stage, engine)));
    else if (isCompared) found.push((await ours(stage, engine))[0]!);
    if (engine === 'postgres' && has('postgres')) {
      found.push(pgbench(await stage.services.database('postgres', 'small'), stage.services.partners));
    }
    if (has('size')) found.push(await ofLarge(stage, engine));
    if (has('refused')) found.push(...(await refused(stage, engine)));
  }
  if (has('peers')) found.push(...(await peersUnderLoad(stage)));
  return found;
}
