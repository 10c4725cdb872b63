import { openTestDatabase } from '#sql/testing/test-database';
import { type CatalogueParts, type CatalogueWorld, startCatalogue } from './start-catalogue.ts';

export type { CatalogueWorld } from './start-catalogue.ts';

/** The service over a fresh database of this test file. */
export async function openCatalogue(options: CatalogueParts = {}): Promise<CatalogueWorld> {
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await openTestDatabase());
  const world = parts.use(await startCatalogue(database, options));
  const owned = parts.move();
  return { ...world, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
