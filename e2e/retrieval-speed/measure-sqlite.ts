import { globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fuseRankings } from '#search/fuse-rankings';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, makeChunk, readCorpus } from './chunks.ts';
import { type HybridQuery, makeQueries, measureQueries, queryWindow } from './measure-queries.ts';

type Row = { readonly no: number };
const ranking = (rows: readonly unknown[]) =>
  (rows as readonly Row[]).map(({ no }, at) => ({ id: String(no), score: -at }));

/** SQLite with FTS5 and sqlite-vec in memory, with the same stemmed terms, the group as a partition of the vectors. */
export async function measureSqlite(given: SpeedCase): Promise<SpeedReport> {
  const corpus = readCorpus();
  const sentences = analysed(corpus);
  const startMib = process.memoryUsage.rss() / 2 ** 20;
  const [extension] = globSync(join(given.installed ?? '', 'node_modules/sqlite-vec-*/vec0.*'));
  const database = new DatabaseSync(':memory:', { allowExtension: true });
  database.loadExtension(extension ?? 'vec0');
  database.exec(`
    create table chunks (no integer primary key, grp integer not null);
    create virtual table texts using fts5 (terms, content = '', tokenize = 'unicode61 remove_diacritics 0');
    create virtual table vectors using vec0 (no integer primary key, grp integer partition key,
      vector float[${given.dimensions}]);
    begin`);
  const putChunk = database.prepare('insert into chunks values (?, ?)');
  const putText = database.prepare('insert into texts (rowid, terms) values (?, ?)');
  const putVector = database.prepare('insert into vectors values (?, ?, ?)');
  let readyMs = 0;
  for (let no = 0; no < given.chunks; no += 1) {
    const { group, entry } = makeChunk(no, given.dimensions, sentences);
    const vector = new Uint8Array((entry.vector ?? new Float32Array()).buffer as ArrayBuffer);
    const start = performance.now();
    putChunk.run(no, group);
    putText.run(no, entry.terms.join(' '));
    putVector.run(BigInt(no), BigInt(group), vector);
    readyMs += performance.now() - start;
  }
  database.exec('commit');
  const texts = (where: string) =>
    database.prepare(`select texts.rowid as no from texts cross join chunks on chunks.no = texts.rowid
      where texts match ? ${where} order by bm25(texts) limit ${queryWindow}`);
  const vectors = (where: string) =>
    database.prepare(`select no from vectors where vector match ? and k = ${queryWindow} ${where} order by distance`);
  const everywhere = { texts: texts(''), vectors: vectors('') };
  const within = { texts: texts('and chunks.grp = ?'), vectors: vectors('and grp = ?') };
  const search = async ({ terms, vector, group }: HybridQuery) => {
    const words = terms.map((term) => `"${term.replaceAll('"', '')}"`).join(' OR ');
    const bytes = new Uint8Array(vector.buffer as ArrayBuffer);
    const found =
      group === undefined
        ? [everywhere.texts.all(words), everywhere.vectors.all(bytes)]
        : [within.texts.all(words, group), within.vectors.all(bytes, BigInt(group))];
    return fuseRankings(found.map((rows) => ({ candidates: ranking(rows), weight: 1 })));
  };
  const times = await measureQueries(makeQueries(given, corpus), search);
  return { readyMs, ...times, residentMib: process.memoryUsage.rss() / 2 ** 20, startMib };
}
