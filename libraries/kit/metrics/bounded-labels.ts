/** The allowed values of a label: a closed list, or the first `bounded` distinct values. */
type LabelSpec = readonly string[] | { readonly bounded: number };
export type LabelSpecs = Readonly<Record<string, LabelSpec>>;
export type LabelValues<L extends LabelSpecs> = {
  readonly [K in keyof L]: L[K] extends readonly (infer V)[] ? V : string;
};

/** Replaces every value that is not allowed. */
export const OTHER = 'other';

/** Returns a function that replaces label values that are not declared. */
export function createLabelGuard<L extends LabelSpecs>(specs: L): (values: LabelValues<L>) => Record<string, string> {
  const guards = Object.entries(specs).map(([name, spec]) => ({ name, hold: createValueGuard(spec) }));
  return (values) => Object.fromEntries(guards.map(({ name, hold }) => [name, hold(String(values[name]))]));
}

function createValueGuard(spec: LabelSpec): (value: string) => string {
  if (!('bounded' in spec)) {
    const closed = new Set(spec);
    return (value) => (closed.has(value) ? value : OTHER);
  }
  const seen = new Set<string>();
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= spec.bounded) return OTHER;
    seen.add(value);
    return value;
  };
}
