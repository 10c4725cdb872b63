/**
 * The time of the work in milliseconds, the fastest of the runs: other load on the machine can only add to it. The clock of the
 * machine, because the processor time of a thread is counted in ticks of milliseconds.
 */
export function fastestMs(runs: number, work: (run: number) => void): number {
  const times = Array.from({ length: runs }, (_, run) => {
    const start = performance.now();
    work(run);
    return performance.now() - start;
  });
  return Math.min(...times);
}
