import { type Logger, pino } from 'pino';

export function createLog(config: { readonly 'log-level': string }): Logger {
  return pino({ level: config['log-level'] });
}
