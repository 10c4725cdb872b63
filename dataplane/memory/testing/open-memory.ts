import { openTestDatabase } from '#sql/testing/test-database';
import type { TestDatabase } from '#sql/testing/test-server';
import { type MemoryParts, type OpenedMemory, startMemory } from './start-memory.ts';

export type { OpenedMemory } from './start-memory.ts';

/** Opens the service with a fresh database for this test file, or with a database that the caller disposes. */
export async function openMemory(
  options: MemoryParts & { readonly database?: TestDatabase } = {},
): Promise<OpenedMemory> {
  await using parts = new AsyncDisposableStack();
  const database = options.database ?? parts.use(await openTestDatabase());
  const service = parts.use(await startMemory(database, options));
  const owned = parts.move();
  return { ...service, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
