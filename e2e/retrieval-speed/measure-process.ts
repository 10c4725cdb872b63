// A process that measures one case, so that only this case causes its resident memory.
import { text } from 'node:stream/consumers';
import type { SpeedCase } from './case.ts';
import { measureEmbedded } from './measure-embedded.ts';
import { measureLancedb } from './measure-lancedb.ts';
import { measureOpenSearch } from './measure-opensearch.ts';
import { measureSqlite } from './measure-sqlite.ts';

const engines = {
  embedded: measureEmbedded,
  'sqlite-vec': measureSqlite,
  lancedb: measureLancedb,
  opensearch: measureOpenSearch,
} as const;
const given: SpeedCase = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(await engines[given.engine](given)));
