import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { OperatorError } from '@partner-network/common/errors';

/**
 * The connections to the collector. The exporter's own agent has two gaps: it ignores a TLS file that cannot
 * be read, and it cannot be closed, so that an answer without end would keep the process alive.
 */
export function createCollectorAgent(url: string): Agent {
  if (url.startsWith('http:')) return new Agent({ keepAlive: true });
  const [ca, cert, key] = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map(fileOf);
  return new TlsAgent({ keepAlive: true, ca, cert, key });
}

/** The file that OpenTelemetry's variable names, if it is set. */
function fileOf(name: string): Buffer | undefined {
  const variables = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  const variable = variables.find((candidate) => process.env[candidate]);
  if (variable === undefined) return undefined;
  try {
    return readFileSync(process.env[variable]!);
  } catch (error) {
    throw new OperatorError(`The file in ${variable} cannot be read: ${(error as Error).message}.`);
  }
}
