/** Milliseconds. */
export type Timings = { readonly p50: number; readonly p95: number };

export function timingsOf(times: readonly number[]): Timings {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}

/** The time of each call, one after another. */
export async function timeCalls(count: number, call: (no: number) => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let no = 0; no < count; no += 1) {
    const start = performance.now();
    await call(no);
    times.push(performance.now() - start);
  }
  return times;
}
