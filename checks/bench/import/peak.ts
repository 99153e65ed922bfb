/** Loaded into a process before its program: at its end, writes its peak memory in megabytes to a file. */
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  writeFileSync(process.env.PEAK_FILE!, String(process.resourceUsage().maxRSS / 1_024));
});
