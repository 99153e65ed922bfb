/** How much CPU time an answer of ours takes, side by side with bare HTTP and with what one would take instead. */

import { print, runProgram, say } from './program.ts';
import { type Contender, type Cost, floors, ofLarge, ours, refused, type Stage } from './speed/contenders.ts';
import { lackOfLoadTool, loadTool } from './speed/load.ts';
import { openServices } from './speed/services.ts';
import { median } from './statistics.ts';

await runProgram({
  help: '',
  options: { rounds: 'value', seconds: 'value', only: 'value' },
  readFlags: (given) => ({
    rounds: given.wholeNumber('rounds', 1, 100, 5),
    seconds: given.wholeNumber('seconds', 1, 60, 3),
    only: (given.text('only') ?? 'embedded').split(','),
  }),
  lackFor: lackOfLoadTool,
  run: async ({ rounds, seconds, only }) => {
    const stage: Stage = { services: openServices(), tool: loadTool() };
    const list: Contender[] = [...(await floors(stage))];
    if (only.includes('embedded')) list.push(...(await ours(stage, 'embedded')));
    if (only.includes('postgres')) list.push(...(await ours(stage, 'postgres')));
    if (only.includes('refused')) list.push(...(await refused(stage, 'embedded')));
    if (only.includes('size')) list.push(await ofLarge(stage, 'embedded'));
    const costs = new Map<Contender, Cost[]>(list.map((one) => [one, []]));
    for (let round = 0; round <= rounds; round += 1) {
      for (const one of list) {
        const cost = await one.measure(seconds);
        if (round > 0) costs.get(one)!.push(cost);
        say(`${round} ${one.name} ${cost.us.toFixed(1)} ${cost.databaseUs?.toFixed(1) ?? ''}`);
      }
    }
    for (const [one, all] of costs) {
      const base = one.id.endsWith('balance') ? list[1] : list[0];
      const ratios = all.map(({ us }, i) => us / costs.get(base!)![i]!.us);
      print(
        `${one.name.padEnd(40)} ${median(all.map(({ us }) => us)).toFixed(1)} ${median(ratios).toFixed(2)}`,
      );
    }
    return true;
  },
});
