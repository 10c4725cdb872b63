import { writeSync } from 'node:fs';

/** Memory of a process after a garbage collection; bytes and counts. */
export type Level = {
  readonly resident: number;
  /** Live objects and the buffers that they hold. */
  readonly live: number;
  /** Open connections. */
  readonly sockets: number;
};

// Preloaded into a process that runs with --expose-gc.
process.on('SIGUSR2', () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
  const level: Level = { resident: rss, live: heapUsed + external, sockets };
  writeSync(2, `collected ${JSON.stringify(level)}\n`);
});
