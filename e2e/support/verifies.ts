import { test } from 'vitest';

/** Id of an obligation of the documents, as in the first column of e2e/requirements. */
export type RequirementId = `${string}:${string}`;

/**
 * A test that proves the named obligations. The ids stand in its title, and the gate collects them from the sources:
 * they must be written as a literal array in the call.
 * @param timeout milliseconds
 */
export function verifies(
  ids: readonly [RequirementId, ...RequirementId[]],
  title: string,
  fn: () => void | Promise<void>,
  timeout?: number,
): void {
  test(`${title} [${ids.join(' ')}]`, fn, timeout);
}
