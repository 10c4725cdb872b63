import type { ErrorDetail } from '#api/operation';
import { type MemoryErrorCode, memoryErrors } from '#contracts/memory-errors';

/** The message of an error: each problem with its path, or the meaning of the code. */
export function memoryErrorMessage(code: MemoryErrorCode, details: readonly ErrorDetail[] = []): string {
  const problems = details.map(({ path, message }) => (path === '' ? `the body ${message}` : `${path} ${message}`));
  return problems.length === 0 ? memoryErrors[code].meaning : `${problems.join('; ')}.`;
}
