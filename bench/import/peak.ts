/** Loaded into a process before its program: leaves how much memory it had at the most, in megabytes. */
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  writeFileSync(process.env.PEAK_FILE!, String(process.resourceUsage().maxRSS / 1_024));
});
