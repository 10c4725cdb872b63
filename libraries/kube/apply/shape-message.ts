import { fieldPath, type ShapeProblem } from '#contracts/read-shape';
import { nearestWord } from '#kit/text/nearest-word';
import type { Place } from './place-in-yaml.ts';

/** A problem for the writer of a file: the path and a predicate with the remedy. */
type WrittenProblem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** The value that the writer has written. */
type Written = {
  readonly value: unknown;
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
  /** Whether short words and numbers of the value may be repeated: on a terminal, but never in a log. */
  readonly repeat?: 'found' | undefined;
};

/** Maximum number of fields that a message lists. */
const maxFields = 12;

/**
 * The problems of a value for its writer. An unknown field is reported with the field that was probably meant, or with
 * the fields of the schema; the field that was probably meant is then not reported as absent, and neither is a field of
 * one alternative if the value has a field of another alternative.
 */
export function shapeMessages(problems: readonly ShapeProblem[], written: Written): readonly WrittenProblem[] {
  const told = new Set(
    problems.flatMap((problem) => [...meantField(problem), ...neededInstead(problem, problems).map(fieldPath)]),
  );
  return problems
    .filter(({ path, message }) => message !== absent || !told.has(fieldPath(path)))
    .map((problem) => {
      const message = shapeMessage(
        problem,
        neededInstead(problem, problems).map((path) => String(path.at(-1))),
        written,
      );
      const found = written.repeat === 'found' ? at(written.value, problem.path) : undefined;
      return { path: problem.path, message: withFound(message, found) };
    });
}

/** The predicate of `readShape` for a field that is absent. */
const absent = 'is required';

/** @param instead fields that are needed once a field of another alternative is removed */
function shapeMessage(problem: ShapeProblem, instead: readonly string[], { value, placeOf }: Written): string {
  const { path, message, known = [], otherPlace, required = [], purpose } = problem;
  if (message === absent) {
    const members = required.length === 0 ? '' : ` with ${listed(required)}`;
    return `${message}: add it${members}${purpose === undefined ? '' : ` (${purpose})`}`;
  }
  if (known.length === 0) return message;
  const nearest = nearestOf(problem);
  if (nearest !== undefined) return `${message}: did you mean ${nearest}?`;
  if (otherPlace?.kind === 'path') {
    const target = fieldPath(otherPlace.path);
    if (at(value, otherPlace.path) === undefined) return `${message}: move it to ${target}`;
    const { line } = placeOf(otherPlace.path);
    return `${message}: remove it, because ${target} is there already${line === undefined ? '' : ` (line ${line})`}`;
  }
  if (otherPlace?.kind === 'variant') {
    const { field, value: wanted } = otherPlace;
    const added = instead.length === 0 ? '' : ` and add ${listed(instead)}`;
    return `${message} with this ${field}: set ${field} to ${wanted}, or remove ${String(path.at(-1))}${added}`;
  }
  const parent = fieldPath(path.slice(0, -1));
  const of = parent === '' ? 'there are' : `${parent} has`;
  const more = known.length > maxFields ? ' and others' : '';
  return `${message}: ${of} ${known.slice(0, maxFields).join(', ')}${more}`;
}

function listed(names: readonly string[]): string {
  return names.length === 1 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, segment) => (inner as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[segment],
    value,
  );
}

/** A word of a list, a name or a number; longer texts may be content. */
const shortText = /^[\x20-\x7e]{1,40}$/;

/** The predicate with the value that breaks it, before its remedy: `must be at most 64, not 100`. */
export function withFound(message: string, found: unknown): string {
  if (!message.startsWith('must ')) return message;
  if (typeof found === 'string' ? !shortText.test(found) : !['number', 'boolean'].includes(typeof found))
    return message;
  const [predicate = '', ...remedy] = message.split(': ');
  return [`${predicate}, not ${JSON.stringify(found)}`, ...remedy].join(': ');
}

function nearestOf({ path, known = [] }: ShapeProblem): string | undefined {
  return nearestWord(String(path.at(-1)), known);
}

function meantField(problem: ShapeProblem): readonly string[] {
  const nearest = nearestOf(problem);
  return nearest === undefined ? [] : [fieldPath([...problem.path.slice(0, -1), nearest])];
}

/** The absent fields of an object that has a field of another alternative, and that this alternative does not have. */
function neededInstead(
  { path, otherPlace }: ShapeProblem,
  problems: readonly ShapeProblem[],
): readonly ShapeProblem['path'][] {
  if (otherPlace?.kind !== 'variant') return [];
  const parent = fieldPath(path.slice(0, -1));
  return problems
    .filter(({ message }) => message === absent)
    .map(({ path: missing }) => missing)
    .filter(
      (missing) => fieldPath(missing.slice(0, -1)) === parent && !otherPlace.fields.includes(String(missing.at(-1))),
    );
}
