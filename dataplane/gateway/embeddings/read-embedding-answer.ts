import { utf8JsonOrUndefined } from '#kit/json/json-or-undefined';

/**
 * Whether an answer has the shape of the embeddings API: an object with a list `data` and no error, so that an error text
 * of a provider never reaches a client as a success. The numbers are not checked.
 */
export function isEmbeddingAnswer(bytes: Uint8Array): boolean {
  const answer = utf8JsonOrUndefined(bytes);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false;
  const { data, error, choices } = answer as { readonly data?: unknown; readonly error?: unknown; choices?: unknown };
  return Array.isArray(data) && (error === undefined || error === null) && choices === undefined;
}
