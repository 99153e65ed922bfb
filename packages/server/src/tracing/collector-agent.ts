import { readFileSync } from 'node:fs';
import { Agent, type AgentOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { tracingBounds } from '../bounds/tracing.ts';
import { OperatorError } from '../lib/operator-error.ts';

/**
 * Connects to the collector: a connection for each batch, which is cut when its time is over. The library
 * gives up on a collector that is silent; one that says a byte now and then would be heard out for hours.
 */
export function createCollectorAgent(url: string): Agent {
  const agent = url.startsWith('https:') ? new TlsAgent(tlsFiles()) : new Agent();
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const connection = connect(options as AgentOptions, callback)!;
    const timer = setTimeout(() => connection.destroy(), tracingBounds.tracesAnswerMs);
    connection.once('close', () => clearTimeout(timer));
    return connection;
  };
  return agent;
}

/** The files that the variables name, which the library would read only for an agent of its own. */
function tlsFiles() {
  return {
    ca: fileIn('CERTIFICATE'),
    cert: fileIn('CLIENT_CERTIFICATE'),
    key: fileIn('CLIENT_KEY'),
  };
}

function fileIn(name: string): Buffer | undefined {
  const variables = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
  const variable = variables.find((one) => (process.env[one] ?? '') !== '');
  if (variable === undefined) return undefined;
  try {
    return readFileSync(process.env[variable]!);
  } catch (fault) {
    throw new OperatorError(`The file of ${variable} cannot be read: ${(fault as Error).message}.`);
  }
}
