import { connectOpenSearch } from '#search/adapters/opensearch/connect-opensearch';
import { openOpenSearchIndex } from '#search/adapters/opensearch/opensearch-index';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, randomOf, randomVector, readCorpus } from './chunks.ts';
import { hybridSearch, sourceOf } from './generated-source.ts';
import { makeQueries, measureQueries } from './measure-queries.ts';
import { untilLoaded } from './until-loaded.ts';

const timeoutMs = 60_000;

/** Measures the adapter for OpenSearch with a running server. The measured memory is that of the client. */
export async function measureOpenSearch(given: SpeedCase): Promise<SpeedReport> {
  const corpus = readCorpus();
  const startMib = process.memoryUsage.rss() / 2 ** 20;
  const { source, makingMs } = sourceOf(given, analysed(corpus));
  await using connection = await connectOpenSearch({ nodes: [new URL(given.server ?? '')], timeoutMs });
  const place = { prefix: 'speed', dimensions: given.dimensions, generation: `${given.chunks}` };
  await using index = openOpenSearchIndex({ connection, source, placeOf: async () => place });
  const search = hybridSearch(index);
  const anything = { terms: ['год'], vector: randomVector(randomOf(3), given.dimensions), group: undefined };
  const start = performance.now();
  await untilLoaded(() => search(anything));
  const readyMs = performance.now() - start - makingMs();
  const times = await measureQueries(makeQueries(given, corpus), search);
  return { readyMs, ...times, residentMib: process.memoryUsage.rss() / 2 ** 20, startMib };
}
