import type { z } from 'zod';
import type { FieldProblem } from '../client/kube-error.ts';

/** Most problems that are listed for one object. */
const maxProblems = 200;

type Issue = z.core.$ZodIssue;

/** A problem with its path as members and indexes. */
export type PathProblem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Every problem of an invalid object with its path in the notation of Kubernetes: `spec.rules[0].id`. */
export function fieldProblems(error: z.ZodError, input: unknown): readonly FieldProblem[] {
  return pathProblems(error, input).map(({ path, message }) => ({ field: fieldPath(path), message }));
}

/** Every problem of an invalid object with its path. */
export function pathProblems(error: z.ZodError, input: unknown): readonly PathProblem[] {
  const problems = error.issues.flatMap((issue) => problemsOf(issue, [])).slice(0, maxProblems);
  return problems.map(({ path, message }) => ({ path, message: isAbsent(input, path) ? 'is required' : message }));
}

/** A path in the notation of Kubernetes; empty for the whole object. */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    const name = String(segment);
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return `${text}[${name}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

function problemsOf(issue: Issue, parent: readonly PropertyKey[]): readonly PathProblem[] {
  const path = [...parent, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], message: 'unknown field' }));
    case 'invalid_union': {
      const closest = closestBranch(issue.errors);
      if (closest === undefined) return [{ path, message: issue.message }];
      return closest.flatMap((inner) => problemsOf(inner, path));
    }
    default:
      return [{ path, message: issue.message }];
  }
}

/** The alternative of a union with the fewest problems: most likely the one that the writer meant. */
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
