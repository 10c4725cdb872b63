import type { z } from 'zod';
import { fieldPurpose, findOtherPlace, type OtherPlace, requiredFields } from './schema-fields.ts';

type Issue = z.core.$ZodIssue;

/** A problem of a value as path and predicate, such as `must be a string`. No predicate repeats the value. */
export type ShapeProblem = {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The last member of the path is not in the schema, so its name is text of the writer. */
  readonly isUnknown: boolean;
  /** The member names of the schema, present if the last member of the path is not one of them. */
  readonly known?: readonly string[];
  /** The place at which the schema has the unknown field. */
  readonly otherPlace?: OtherPlace;
  /** The fields that an absent object must have. */
  readonly required?: readonly string[];
  /** The purpose of an absent field, without a full stop. */
  readonly purpose?: string;
};

type Shape<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ShapeProblem[] };

/** Maximum number of problems that are listed for one value. */
const maxProblems = 200;

/** Reads a value with a schema; the only place where faults of schemas become sentences. */
export function readShape<S extends z.ZodType>(schema: S, value: unknown): Shape<z.output<S>> {
  const known: KnownFields = new WeakMap();
  const parsed = schema.safeParse(value, { error: (issue) => predicateOf(issue, known) });
  if (parsed.success) return { ok: true, value: parsed.data };
  const problems = parsed.error.issues
    .slice(0, maxProblems)
    .flatMap((issue) => problemsOf(issue, [], known))
    .slice(0, maxProblems);
  return {
    ok: false,
    problems: problems.map((problem) => {
      if (isAbsent(value, problem.path)) {
        const purpose = fieldPurpose(schema, problem.path);
        const required = requiredFields(schema, problem.path);
        return { ...problem, message: 'is required', required, ...(purpose === undefined ? {} : { purpose }) };
      }
      const otherPlace = problem.isUnknown ? findOtherPlace(schema, problem.path) : undefined;
      return otherPlace === undefined ? problem : { ...problem, otherPlace };
    }),
  };
}

/** The problems of a value with paths in the notation of Kubernetes, `spec.rules[0].id`. */
export function fieldProblems(
  problems: readonly ShapeProblem[],
): readonly { readonly field: string; readonly message: string }[] {
  return problems.map(({ path, message }) => ({ field: fieldPath(path), message }));
}

/** Problems as sentences for people, separated by semicolons; `whole` names the value itself. */
export function problemSentences(problems: readonly ShapeProblem[], whole: string): string {
  return fieldProblems(problems)
    .map(({ field, message }) => `${field === '' ? whole : field} ${message}`)
    .join('; ');
}

/** A path in the notation of Kubernetes; empty for the whole value. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    const name = String(segment);
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return `${text}[${name}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function problemsOf(issue: Issue, parent: readonly PropertyKey[], known: KnownFields): readonly ShapeProblem[] {
  const path = [...parent, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const names = known.get(issue.keys) ?? [];
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: 'is an unknown field',
      isUnknown: true,
      known: names,
    }));
  }
  const closest = issue.code === 'invalid_union' ? closestBranch(issue.errors) : undefined;
  if (closest !== undefined) return closest.flatMap((inner) => problemsOf(inner, path, known));
  return [{ path, message: issue.message, isUnknown: false }];
}

/** The alternative of a union with the fewest problems, because the writer most likely meant this one. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches
    .filter((issues) => issues.some((issue) => issue.path.length > 0))
    .toSorted((a, b) => a.length - b.length)[0];
}

/** Whether there is no value at a path. */
function isAbsent(input: unknown, path: readonly PropertyKey[]): boolean {
  const found = path.reduce<unknown>(
    (value, segment) => (value as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[segment],
    input,
  );
  return found === undefined;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const formatNames: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  url: 'must be a URL',
  datetime: 'must be a time such as 2026-01-02T03:04:05Z',
};

/** The unit in which the length of a value is counted. */
const units: Readonly<Record<string, string>> = {
  string: 'characters',
  array: 'entries',
  object: 'fields',
  record: 'fields',
};

/** The fields of the schema for each list of unknown keys. An issue keeps the list of keys, but not its schema. */
type KnownFields = WeakMap<readonly string[], readonly string[]>;

/** The predicate of an issue; a message of the schema itself has priority. */
function predicateOf(issue: z.core.$ZodRawIssue, known: KnownFields): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      known.set(issue.keys, fieldsOf(issue.inst));
      return 'has unknown fields';
    case 'invalid_type':
      return typeSentence(isWholeNumber(issue.inst) ? 'int' : issue.expected, issue.input);
    case 'too_small':
      if (issue.minimum === 1 && issue.origin in units) return 'must not be empty';
      return bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum);
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'invalid_format':
      if (issue.format === 'regex') return `must match ${issue.pattern ?? 'the pattern of the schema'}`;
      return formatNames[issue.format] ?? `must be in the format ${issue.format}`;
    case 'invalid_key':
      return 'has a field with an invalid name';
    case 'invalid_union': {
      const values = 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
      return values.length === 0 ? noForm : `must be ${oneOf(values)}`;
    }
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    default:
      return noForm;
  }
}

/** The predicate for a value of the wrong type, with the remedy if the text shows it. The text is not repeated. */
function typeSentence(expected: string, input: unknown): string {
  const sentence = `must be ${typeNames[expected] ?? 'another type'}`;
  if (expected === 'string')
    return typeof input === 'number' || typeof input === 'boolean' ? `${sentence}: quote it` : sentence;
  if (typeof input !== 'string') return sentence;
  if (expected === 'boolean') return /^(true|false)$/.test(input) ? `${sentence}: remove the quotes` : sentence;
  if (expected !== 'int' && expected !== 'number') return sentence;
  if (/^-?\d+(\.\d+)?$/.test(input)) return `${sentence}: remove the quotes`;
  return /^\d+ ?[a-zA-Z]{1,2}$/.test(input) ? `${sentence}: remove the unit` : sentence;
}

const noForm = 'has none of the allowed forms';

function oneOf(values: readonly unknown[]): string {
  const listed = values.map((value) => JSON.stringify(value)).join(', ');
  return values.length === 1 ? listed : `one of ${listed}`;
}

function isWholeNumber(schema: unknown): boolean {
  return definitionOf(schema)['check'] === 'number_format';
}

function fieldsOf(schema: unknown): readonly string[] {
  return Object.keys(definitionOf(schema)['shape'] ?? {});
}

/** The definition that the library keeps in a schema; empty for anything else. */
function definitionOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (
    (schema as { readonly _zod?: { readonly def?: Readonly<Record<string, unknown>> } } | undefined)?._zod?.def ?? {}
  );
}

function bound(origin: string, comparison: string, limit: number | bigint): string {
  const unit = units[origin];
  return unit === undefined ? `must be ${comparison} ${limit}` : `must have ${comparison} ${limit} ${unit}`;
}
