import type { z } from 'zod';
import { fieldPath, readShape, type ShapeProblem } from '#contracts/read-shape';
import type { JsonBody } from './json-body.ts';
import { type ApiError, failure } from './operation.ts';

export type BodyProblem = Pick<ShapeProblem, 'path' | 'message'> & Partial<Pick<ShapeProblem, 'isUnknown'>>;

/** Maximum number of problems that one error names. */
const mostProblems = 20;

/**
 * The body of a request in the form of a schema, or an error with the given code that names each problem with its path.
 */
export function readBodyAs<S extends z.ZodType, Code extends string>(
  schema: S,
  { json }: JsonBody,
  code: Code,
): { readonly kind: 'body'; readonly value: z.output<S> } | ApiError<Code> {
  if (json === undefined) {
    return bodyFailure([{ path: [], message: 'must be strict JSON in UTF-8 without repeated keys' }], code);
  }
  const read = readShape(schema, json);
  return read.ok ? { kind: 'body', value: read.value } : bodyFailure(read.problems, code);
}

/** An error about members of the body. Names that a client invented are not repeated. */
export function bodyFailure<Code extends string>(problems: readonly BodyProblem[], code: Code): ApiError<Code> {
  return failure(
    code,
    problems.slice(0, mostProblems).map(({ path, message, isUnknown = false }) => ({
      path: fieldPath(isUnknown ? path.slice(0, -1) : path),
      message: isUnknown ? 'has an unknown field' : message,
    })),
  );
}
