/** Percentiles of the measured times, milliseconds. */
export type Timings = { readonly p50: number; readonly p95: number };

export function timingsOf(times: readonly number[]): Timings {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}

/** Measures the time of a call for each item, one after another. */
export async function timeCalls<T>(
  items: readonly T[],
  call: (item: T) => Promise<unknown>,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (const item of items) {
    const start = performance.now();
    await call(item);
    times.push(performance.now() - start);
  }
  return times;
}

const rounds = 6;

/** The timings of the round with the smallest p95. */
export async function fastestRound(round: () => Promise<Timings>): Promise<Timings> {
  let best = await round();
  for (let no = 1; no < rounds; no += 1) {
    const next = await round();
    if (next.p95 < best.p95) best = next;
  }
  return best;
}
