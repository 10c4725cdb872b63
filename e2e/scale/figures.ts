/** A measured value, its bound, and whether it holds. */
export type ScaleFigure = {
  readonly what: string;
  readonly value: string;
  readonly holds: boolean;
  /** Whether the figure measures time or memory: then its bound applies to the full size only. */
  readonly isOfSize: boolean;
};

/** @param unit of a measurement; a count has no unit, and its bound holds at every size */
export function atMost(what: string, value: number, bound: number, unit = '', digits = 0): ScaleFigure {
  const text = `${value.toFixed(digits)}${unit} (at most ${bound}${unit})`;
  return { what, value: text, holds: value <= bound, isOfSize: unit !== '' };
}

export function atLeast(what: string, value: number, bound: number, unit = '', digits = 0): ScaleFigure {
  const text = `${value.toFixed(digits)}${unit} (at least ${bound}${unit})`;
  return { what, value: text, holds: value >= bound, isOfSize: unit !== '' };
}

/** A published value without a bound. */
export function published(what: string, value: string): ScaleFigure {
  return { what, value, holds: true, isOfSize: true };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
