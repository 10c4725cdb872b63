import type { z } from 'zod';
import type { FieldProblem } from './kube-error.ts';

/** Problems that are listed of one object; who gets more repairs these first. */
const maxProblems = 200;

type Issue = z.core.$ZodIssue;

/** Every problem of a refused object with its path, in the notation of Kubernetes: `spec.rules[0].id`. */
export function fieldProblems(error: z.ZodError): readonly FieldProblem[] {
  return error.issues.flatMap((issue) => problemsOf(issue, [])).slice(0, maxProblems);
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

function problemsOf(issue: Issue, parent: readonly PropertyKey[]): readonly FieldProblem[] {
  const path = [...parent, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ field: fieldPath([...path, key]), message: 'unknown field' }));
    case 'invalid_union': {
      const closest = closestBranch(issue.errors);
      if (closest === undefined) return [{ field: fieldPath(path), message: issue.message }];
      return closest.flatMap((inner) => problemsOf(inner, path));
    }
    case 'invalid_type':
      return [{ field: fieldPath(path), message: isAbsent(issue) ? 'is required' : issue.message }];
    default:
      return [{ field: fieldPath(path), message: issue.message }];
  }
}

/** The alternative that fails latest: the one that the writer most likely meant. */
function closestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return branches
    .filter((issues) => issues.some((issue) => issue.path.length > 0))
    .toSorted((a, b) => a.length - b.length)[0];
}

/** The library does not hand out the input of an issue, but says of a missing one that it is undefined. */
function isAbsent(issue: Issue): boolean {
  return issue.message.endsWith('received undefined');
}
