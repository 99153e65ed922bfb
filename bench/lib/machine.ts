/** The machine that figures are of. */
import { availableParallelism, cpus } from 'node:os';

export function machine(): { readonly cpu: string; readonly cores: number } {
  return { cpu: cpus()[0]?.model ?? 'CPU', cores: availableParallelism() };
}
