/**
 * Whether an answer has the shape of the embeddings API: an object with a list `data` and no error, so that an error text
 * of a provider never reaches a client as a success. The numbers are not checked.
 */
export function isEmbeddingAnswer(bytes: Uint8Array): boolean {
  const answer = parse(bytes);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return false;
  const { data, error, choices } = answer as { readonly data?: unknown; readonly error?: unknown; choices?: unknown };
  return Array.isArray(data) && (error === undefined || error === null) && choices === undefined;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
