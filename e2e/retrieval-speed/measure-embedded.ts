import { wait } from '#kit/time/wait';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, randomOf, randomVector, readCorpus } from './chunks.ts';
import { hybridSearch, sourceOf } from './generated-source.ts';
import { startOthers } from './measure-others.ts';
import { makeQueries, measureQueries } from './measure-queries.ts';
import { fastestRound, timeCalls } from './timings.ts';
import { untilLoaded } from './until-loaded.ts';

const idleMs = 500;

export async function measureEmbedded(given: SpeedCase): Promise<SpeedReport> {
  const corpus = readCorpus();
  const sentences = analysed(corpus);
  const startMib = process.memoryUsage.rss() / 2 ** 20;
  const start = performance.now();
  const { source, makingMs } = sourceOf(given, sentences);
  await using index = openEmbeddedIndex({ source, mostBytes: 4 * 2 ** 30 });
  const search = hybridSearch(index);
  const anything = { terms: ['год'], vector: randomVector(randomOf(3), given.dimensions), group: undefined };
  await untilLoaded(() => search(anything));
  const readyMs = performance.now() - start - makingMs();
  const queries = makeQueries(given, corpus);
  const times = await measureQueries(queries, search);
  const others = await measureOthers((share) => timeCalls(queries.slice(0, queries.length / share), search));
  return { readyMs, ...times, residentMib: process.memoryUsage.rss() / 2 ** 20, startMib, others };
}

/** Times of small requests: alone, and while 1 and 16 callers search. */
async function measureOthers(search: (share: number) => Promise<unknown>): Promise<NonNullable<SpeedReport['others']>> {
  await using others = await startOthers();
  const rest = () => wait(idleMs, new AbortController().signal);
  await others.during(rest);
  const during = (run: () => Promise<unknown>) => fastestRound(() => others.during(run));
  const idle = await during(rest);
  const busy = await during(() => search(1));
  const crowded = await during(() => Promise.all(Array.from({ length: 16 }, () => search(16))));
  return { idle, busy, crowded };
}
