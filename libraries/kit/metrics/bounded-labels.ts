/** The values that a label may take: a closed list, or the first `bounded` different ones that come. */
export type LabelSpec = readonly string[] | { readonly bounded: number };
export type LabelSpecs = Readonly<Record<string, LabelSpec>>;
export type LabelValues<L extends LabelSpecs> = {
  readonly [K in keyof L]: L[K] extends readonly (infer V)[] ? V : string;
};

/** What stands for every value that a label does not take. */
export const OTHER = 'other';

/** Makes the function that holds the labels of one metric to their declared values. */
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
