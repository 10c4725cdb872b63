/** What was measured, what it must be at most or at least, and whether it is. */
export type ScaleFigure = { readonly what: string; readonly value: string; readonly holds: boolean };

export function atMost(what: string, value: number, bound: number, unit = '', digits = 0): ScaleFigure {
  return { what, value: `${value.toFixed(digits)}${unit} (at most ${bound}${unit})`, holds: value <= bound };
}

export function atLeast(what: string, value: number, bound: number, unit = '', digits = 0): ScaleFigure {
  return { what, value: `${value.toFixed(digits)}${unit} (at least ${bound}${unit})`, holds: value >= bound };
}

/** What is published without a bound. */
export function published(what: string, value: string): ScaleFigure {
  return { what, value, holds: true };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
