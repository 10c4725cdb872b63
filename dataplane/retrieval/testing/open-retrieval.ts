import { openTestDatabase } from '#sql/testing/test-database';
import { type OpenedRetrieval, type RetrievalParts, startRetrieval } from './start-retrieval.ts';

export { documentOf, type OpenedRetrieval, type TestCaller } from './start-retrieval.ts';

/** The service over a fresh database of this test file. */
export async function openRetrieval(options: RetrievalParts = {}): Promise<OpenedRetrieval> {
  await using parts = new AsyncDisposableStack();
  const opened = parts.use(await openTestDatabase());
  const service = parts.use(await startRetrieval(opened, options));
  const owned = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
