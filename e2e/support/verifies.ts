import { type TestContext, test } from 'vitest';

/** Id of an obligation of the documents, as in the first column of e2e/requirements. */
type RequirementId = `${string}:${string}`;

declare module 'vitest' {
  interface TaskMeta {
    /** Ids of the obligations that the test proves when it passes. */
    verifies?: readonly RequirementId[];
  }
}

/**
 * A test that proves the named obligations. The ids travel with the test, so that `npm test` counts a row as proved
 * only when its test ran and passed; the gate in e2e/requirements also collects them from the sources, so they are
 * written as string literals in the file of the test.
 * @param timeout milliseconds
 */
export function verifies(
  ids: readonly [RequirementId, ...RequirementId[]],
  title: string,
  fn: (context: TestContext) => void | Promise<void>,
  timeout?: number,
): void {
  test(title, { meta: { verifies: ids }, ...(timeout === undefined ? {} : { timeout }) }, fn);
}
