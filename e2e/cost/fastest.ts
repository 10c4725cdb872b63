/**
 * The time of a function in milliseconds, the fastest of several runs, because other load can only increase it.
 * Measured by the wall clock, because thread CPU time has millisecond ticks.
 */
export function fastestMs(runs: number, work: (run: number) => void): number {
  const times = Array.from({ length: runs }, (_, run) => {
    const start = performance.now();
    work(run);
    return performance.now() - start;
  });
  return Math.min(...times);
}
