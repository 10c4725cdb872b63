import type { ErrorDetail } from '#api/operation';
import { type RetrievalErrorCode, retrievalErrors } from '#contracts/retrieval-errors';

/** The message of an error: each problem with its path, or the meaning of the code. */
export function errorMessage(code: RetrievalErrorCode, details: readonly ErrorDetail[] = []): string {
  const problems = details.map(({ path, message }) => (path === '' ? `the body ${message}` : `${path} ${message}`));
  return problems.length === 0 ? retrievalErrors[code].meaning : `${problems.join('; ')}.`;
}
