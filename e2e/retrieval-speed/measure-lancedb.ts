import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fuseRankings } from '#search/fuse-rankings';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, makeChunk, readCorpus } from './chunks.ts';
import { type HybridQuery, makeQueries, measureQueries, queryWindow } from './measure-queries.ts';

/** The part of the package that this program uses; the package is not a dependency of this repository. */
type LanceDb = {
  connect(folder: string): Promise<{ createTable(name: string, rows: readonly Row[]): Promise<Table> }>;
  readonly Index: { fts(options: object): unknown; bitmap(): unknown };
};
type Row = { readonly no: number; readonly grp: string; readonly terms: string; readonly vector: readonly number[] };
type Table = {
  add(rows: readonly Row[]): Promise<unknown>;
  createIndex(column: string, options: { readonly config: unknown }): Promise<void>;
  optimize(): Promise<unknown>;
  query(): Query;
};
type Query = {
  fullTextSearch(words: string, options: { readonly columns: readonly string[] }): Query;
  nearestTo(vector: Float32Array): Query;
  where(condition: string): Query;
  select(columns: readonly string[]): Query;
  limit(count: number): Query;
  toArray(): Promise<readonly { readonly no: number }[]>;
};

const batch = 5_000;

/** LanceDB in a folder: exact vectors (no vector index), full-text index over the same stemmed terms, groups indexed. */
export async function measureLancedb(given: SpeedCase): Promise<SpeedReport> {
  const file = join(given.installed ?? '', 'node_modules/@lancedb/lancedb/dist/index.js');
  const lancedb: LanceDb = await import(pathToFileURL(file).href);
  const corpus = readCorpus();
  const sentences = analysed(corpus);
  const rowsFrom = (no: number): readonly Row[] =>
    Array.from({ length: Math.min(batch, given.chunks - no) }, (_, at) => {
      const { group, entry } = makeChunk(no + at, given.dimensions, sentences);
      return {
        no: no + at,
        grp: `group-${group}`,
        terms: entry.terms.join(' '),
        vector: Array.from(entry.vector ?? []),
      };
    });
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-lancedb-'));
  try {
    const startMib = process.memoryUsage.rss() / 2 ** 20;
    const connection = await lancedb.connect(folder);
    let readyMs = 0;
    const timed = async <T>(work: () => Promise<T>): Promise<T> => {
      const start = performance.now();
      const value = await work();
      readyMs += performance.now() - start;
      return value;
    };
    const first = rowsFrom(0);
    const table = await timed(() => connection.createTable('chunks', first));
    for (let no = batch; no < given.chunks; no += batch) {
      const rows = rowsFrom(no);
      await timed(() => table.add(rows));
    }
    const words = { baseTokenizer: 'whitespace', stem: false, removeStopWords: false, asciiFolding: false };
    await timed(() => table.createIndex('terms', { config: lancedb.Index.fts(words) }));
    await timed(() => table.createIndex('grp', { config: lancedb.Index.bitmap() }));
    await timed(() => table.optimize());
    const times = await measureQueries(makeQueries(given, corpus), (query) => searchTable(table, query));
    return { readyMs, ...times, residentMib: process.memoryUsage.rss() / 2 ** 20, startMib };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function searchTable(table: Table, { terms, vector, group }: HybridQuery) {
  const within = (query: Query) => (group === undefined ? query : query.where(`grp = 'group-${group}'`));
  const rankings = await Promise.all(
    [table.query().fullTextSearch(terms.join(' '), { columns: ['terms'] }), table.query().nearestTo(vector)].map(
      (query) => within(query).select(['no']).limit(queryWindow).toArray(),
    ),
  );
  const candidates = rankings.map((rows) => rows.map(({ no }, at) => ({ id: String(no), score: -at })));
  return fuseRankings(candidates.map((ranking) => ({ candidates: ranking, weight: 1 })));
}
