/** Sampled levels of a process, and their largest growth over a soak. */
const bounds = {
  /** Live objects after garbage collection. */
  live: { share: 0.06, least: 1_572_864 },
  resident: { share: 0.12, least: 12_582_912 },
  descriptors: { share: 0, least: 3 },
  sockets: { share: 0, least: 3 },
  timers: { share: 0, least: 3 },
  listeners: { share: 0, least: 0 },
} as const;
export type Measure = keyof typeof bounds;
const measures = Object.keys(bounds) as readonly Measure[];

/** One sample of a process, `at` seconds after the first sample. */
export type ProcessSample = Readonly<Record<Measure, number>> & { readonly at: number };

export type Growth = {
  readonly measure: Measure;
  /** The slope multiplied by the time between the first and the last sample. */
  readonly grown: number;
  /** The permitted growth. */
  readonly bound: number;
  readonly holds: boolean;
};

/** Samples of a process that a slope needs. */
export const leastSamples = 5;

/**
 * Growth of each measure over a soak: the median of the slopes between any two samples (Theil-Sen), which a few
 * outliers do not affect. `allowed` is intended, bounded growth of a process.
 */
export function judgeSlopes(
  looks: readonly ProcessSample[],
  allowed: Partial<Record<Measure, number>> = {},
): readonly Growth[] {
  if (looks.length < leastSamples) throw new RangeError(`a slope needs at least ${leastSamples} samples`);
  const seconds = (looks.at(-1)?.at ?? 0) - (looks[0]?.at ?? 0);
  return measures.map((measure) => {
    const grown = medianSlope(looks.map((look) => [look.at, look[measure]])) * seconds;
    const { share, least } = bounds[measure];
    const middle = median(looks.map((look) => look[measure]));
    const bound = Math.max(least, middle * share) + (allowed[measure] ?? 0);
    return { measure, grown, bound, holds: grown <= bound };
  });
}

function medianSlope(points: readonly (readonly [number, number])[]): number {
  const slopes = points.flatMap(([at, value], index) =>
    points.slice(index + 1).flatMap(([later, next]) => (later > at ? [(next - value) / (later - at)] : [])),
  );
  return median(slopes);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}
