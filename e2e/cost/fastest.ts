/**
 * What the work takes in milliseconds, the fastest of the runs: what else the machine does only adds. The clock of the
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
