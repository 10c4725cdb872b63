import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { startTestServer } from '#sql/testing/test-server';
import { chunkSource } from '../../dataplane/retrieval/index/chunk-source.ts';
import { fillDatabase } from './fill-database.ts';
import { untilLoaded } from './until-loaded.ts';

/** Elapsed milliseconds, and the part in which this process was busy. */
type ReadyReport = { readonly chunks: number; readonly readyMs: number; readonly workMs: number };

/** The time from an empty index to the first answer over the chunks of a real PostgreSQL. */
export async function measurePostgres(size: {
  readonly chunks: number;
  readonly dimensions: number;
}): Promise<ReadyReport> {
  await using server = await startTestServer();
  await using opened = await server.createDatabase();
  const partition = await fillDatabase(opened.database, size);
  await using index = openEmbeddedIndex({ source: chunkSource(opened.database), mostBytes: 4 * 2 ** 30 });
  const legs = [{ kind: 'bm25', terms: ['год'] }] as const;
  const start = performance.now();
  const before = process.cpuUsage();
  await untilLoaded(() => index.candidates({ partition, reflects: 1n, labels: 'every', legs, window: 10 }));
  const { user, system } = process.cpuUsage(before);
  return { chunks: size.chunks, readyMs: performance.now() - start, workMs: (user + system) / 1_000 };
}
