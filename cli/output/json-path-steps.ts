type Literal = string | number | boolean | null;
type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** One step of a path. */
type Step =
  | { readonly kind: 'members'; readonly names: readonly string[] }
  | { readonly kind: 'items'; readonly at: readonly number[] }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly by: number }
  | { readonly kind: 'all' }
  /** The value and everything below it. */
  | { readonly kind: 'descend' }
  | {
      readonly kind: 'filter';
      readonly path: Path;
      readonly comparison?: { readonly is: Comparison; readonly to: Literal };
    };

export type Path = { readonly isFromRoot: boolean; readonly steps: readonly Step[] };

/** A path, or the text that could not be parsed. */
type ParsedPath = { readonly ok: true; readonly path: Path } | { readonly ok: false; readonly rest: string };

type Form = readonly [RegExp, (found: RegExpExecArray) => readonly Step[] | undefined];

/** The forms of a step in the order in which they are tried; `undefined` refuses the text. */
const forms: readonly Form[] = [
  [/^\.\.(?=[\w*$[-])/, () => [{ kind: 'descend' }]],
  [/^(?:\.\*|\[\*\]|\*)/, () => [{ kind: 'all' }]],
  [/^\.?((?:[\w$/-]|\\.)+)/, ([, name = '']) => [{ kind: 'members', names: [name.replace(/\\(.)/g, '$1')] }]],
  [/^\.(?=\[|$)/, () => []],
  [/^\[\s*((?:'[^']*'|"[^"]*")(?:\s*,\s*(?:'[^']*'|"[^"]*"))*)\s*\]/, ([, list = '']) => [membersOf(list)]],
  [
    /^\[\s*(-?\d{1,9}(?:\s*,\s*-?\d{1,9})*)\s*\]/,
    ([, list = '']) => [{ kind: 'items', at: list.split(',').map(Number) }],
  ],
  [/^\[\s*(-?\d{0,9}):(-?\d{0,9})(?::(\d{1,9}))?\s*\]/, sliceOf],
  [
    /^\[\?\(\s*(@[^=!<>]*?)\s*(?:(==|!=|<=|>=|<|>)\s*("[^"]*"|'[^']*'|-?\d+(?:\.\d+)?|true|false|null)\s*)?\)\]/,
    filterOf,
  ],
];

/** Parses a path such as `.status.conditions[?(@.type=="Ready")].status`. */
export function parsePath(text: string): ParsedPath {
  const start = /^[$@]/.exec(text)?.[0];
  let rest = start === undefined ? text : text.slice(1);
  const steps: Step[] = [];
  while (rest !== '') {
    const taken = takeStep(rest);
    if (taken === undefined) return { ok: false, rest };
    steps.push(...taken.steps);
    rest = rest.slice(taken.length);
  }
  return { ok: true, path: { isFromRoot: start === '$', steps } };
}

function takeStep(rest: string): { readonly steps: readonly Step[]; readonly length: number } | undefined {
  for (const [pattern, read] of forms) {
    const found = pattern.exec(rest);
    if (found === null) continue;
    const steps = read(found);
    return steps === undefined ? undefined : { steps, length: found[0].length };
  }
  return undefined;
}

function membersOf(list: string): Step {
  return { kind: 'members', names: [...list.matchAll(/'([^']*)'|"([^"]*)"/g)].map(([, one, two]) => one ?? two ?? '') };
}

function sliceOf([, from = '', to = '', by = '1']: RegExpExecArray): readonly Step[] | undefined {
  const bound = (text: string): number | undefined => (/\d/.test(text) ? Number(text) : undefined);
  return Number(by) === 0 ? undefined : [{ kind: 'slice', from: bound(from), to: bound(to), by: Number(by) }];
}

function filterOf([, tested = '', is, literal]: RegExpExecArray): readonly Step[] | undefined {
  const read = parsePath(tested);
  if (!read.ok) return undefined;
  if (is === undefined || literal === undefined) return [{ kind: 'filter', path: read.path }];
  const to: Literal = /^["']/.test(literal) ? literal.slice(1, -1) : JSON.parse(literal);
  return [{ kind: 'filter', path: read.path, comparison: { is: is as Comparison, to } }];
}

/** The values at a path. */
export function readPath({ isFromRoot, steps }: Path, current: unknown, root: unknown): readonly unknown[] {
  let values: readonly unknown[] = [isFromRoot ? root : current];
  for (const step of steps) values = values.flatMap((value) => taken(step, value, root));
  return values;
}

function taken(step: Step, value: unknown, root: unknown): readonly unknown[] {
  switch (step.kind) {
    case 'members':
      return step.names.flatMap((name) => (isMap(value) && Object.hasOwn(value, name) ? [value[name]] : []));
    case 'items':
      return Array.isArray(value) ? step.at.flatMap((at) => (value.at(at) === undefined ? [] : [value.at(at)])) : [];
    case 'slice':
      return itemsOf(value)
        .slice(step.from, step.to)
        .filter((_, at) => at % step.by === 0);
    case 'all':
      return Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
    case 'descend':
      return below(value);
    case 'filter':
      return itemsOf(value).filter((item) => passes(step, item, root));
  }
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function below(value: unknown): readonly unknown[] {
  const inner = Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
  return [value, ...inner.flatMap(below)];
}

function passes({ path, comparison }: Extract<Step, { kind: 'filter' }>, item: unknown, root: unknown): boolean {
  const found = readPath(path, item, root);
  if (comparison === undefined) return found.length > 0;
  return found.some((value) => compares(value, comparison.is, comparison.to));
}

function compares(value: unknown, is: Comparison, to: Literal): boolean {
  if (is === '==') return value === to;
  if (is === '!=') return value !== to;
  if (typeof value !== typeof to || value === null || to === null) return false;
  const [left, right] = [value as string | number, to as string | number];
  switch (is) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
