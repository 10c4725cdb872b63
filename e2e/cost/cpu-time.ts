/**
 * What the work takes on this thread, in milliseconds: processor time, because what else the machine does is no part of
 * it. The median of the runs.
 */
export function medianCpuMs(runs: number, work: (run: number) => void): number {
  return sortedCpuMs(runs, work)[runs >> 1] ?? 0;
}

/** The fastest of the runs: what is left when nothing else disturbs the caches. */
export function fastestCpuMs(runs: number, work: (run: number) => void): number {
  return sortedCpuMs(runs, work)[0] ?? 0;
}

function sortedCpuMs(runs: number, work: (run: number) => void): readonly number[] {
  const times = Array.from({ length: runs }, (_, run) => {
    const start = process.threadCpuUsage();
    work(run);
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  });
  return times.sort((one, other) => one - other);
}
