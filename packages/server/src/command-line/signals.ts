const stops = ['SIGINT', 'SIGTERM'] as const;

/**
 * Calls back once when somebody wants the process to end, which it then has to do by itself; a second signal
 * ends it at once. Returns what takes that back.
 */
export function onStop(listener: (signal: NodeJS.Signals) => void): () => void {
  const ignore = () => {
    for (const name of stops) process.off(name, hear);
  };
  const hear = (signal: NodeJS.Signals) => {
    ignore();
    listener(signal);
  };
  for (const name of stops) process.on(name, hear);
  return ignore;
}

/** Says a last word before a signal ends the process as it would have without us. */
export function onInterrupt(lastWord: () => void): () => void {
  return onStop((signal) => {
    lastWord();
    process.kill(process.pid, signal);
  });
}
