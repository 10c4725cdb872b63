import type { z } from 'zod';
import type { JsonBody } from '#api/json-body';
import { failure } from '#api/operation';
import { fieldPath, readShape, type ShapeProblem } from '#contracts/read-shape';
import type { RetrievalError } from './retrieval.ts';

type BodyProblem = Pick<ShapeProblem, 'path' | 'message'> & Partial<Pick<ShapeProblem, 'isUnknown'>>;

/** Most problems that one error names. */
const mostProblems = 20;

/** The body of a request in the form of a schema, or the error that names each problem with its path. */
export function readRequest<S extends z.ZodType>(
  schema: S,
  { json }: JsonBody,
): { readonly kind: 'body'; readonly value: z.output<S> } | RetrievalError {
  if (json === undefined)
    return invalidBody([{ path: [], message: 'must be strict JSON in UTF-8 without repeated keys' }]);
  const read = readShape(schema, json);
  return read.ok ? { kind: 'body', value: read.value } : invalidBody(read.problems);
}

/** An error about members of the body. Names that a client invented are not repeated. */
export function invalidBody(problems: readonly BodyProblem[]): RetrievalError {
  return failure(
    'invalid_document',
    problems.slice(0, mostProblems).map(({ path, message, isUnknown = false }) => ({
      path: fieldPath(isUnknown ? path.slice(0, -1) : path),
      message: isUnknown ? 'has an unknown field' : message,
    })),
  );
}

/** The detail of a change over HTTP of what a resource declares: the resource would change it back. */
export const managedByResource = {
  path: 'collection_id',
  message: 'names a collection that a resource manages',
} as const;
