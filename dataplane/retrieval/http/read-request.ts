import type { z } from 'zod';
import type { JsonBody } from '#api/json-body';
import { type BodyProblem, bodyFailure, readBodyAs } from '#api/read-body';
import type { RetrievalError } from './retrieval.ts';

/** The body of a request that matches a schema, or the error that names each problem with its path. */
export function readRequest<S extends z.ZodType>(
  schema: S,
  body: JsonBody,
): { readonly kind: 'body'; readonly value: z.output<S> } | RetrievalError {
  return readBodyAs(schema, body, 'invalid_document');
}

/** An error about members of the body. */
export function invalidBody(problems: readonly BodyProblem[]): RetrievalError {
  return bodyFailure(problems, 'invalid_document');
}

/**
 * The detail of the error for a change over HTTP of a member that a resource declares: the resource would revert it.
 */
export const managedByResource = {
  path: 'collection_id',
  message: 'names a collection that a resource manages',
} as const;
