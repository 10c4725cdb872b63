import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { openTestDatabase } from '#sql/testing/test-database';
import { startRetrieval } from './testing/start-retrieval.ts';

test('a table or schema that the retrieval service lost is reported without a probe, requests are 503, and a restore repairs it', async () => {
  await using opened = await openTestDatabase();
  const lines: string[] = [];
  const logger = createLogger({
    service: 'retrieval',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  await using retrieval = await startRetrieval(opened, { overrides: { logger, tablesMs: 20 } });
  const readyz = async () => (await fetch(`${retrieval.adminUrl}/readyz`)).status;
  const answers = async () =>
    /^portcullis_retrieval_database_answers\{[^}]*\} (\d)$/m.exec(
      await (await fetch(`${retrieval.adminUrl}/metrics`)).text(),
    )?.[1];
  const list = () => retrieval.call({ user: 'ann' }, '/v1/collections');
  expect([await readyz(), await answers(), (await list()).status]).toEqual([200, '1', 200]);
  const { sql } = opened.database;
  await sql`alter table retrieval.collections rename to lost_collections`;
  await until('the table is in the log', () => lines.some((line) => line.includes('"tables":"retrieval.collections"')));
  expect([await readyz(), await answers()]).toEqual([503, '0']);
  const refused = await list();
  expect([refused.status, refused.json['code']]).toEqual([503, 'unavailable']);
  await sql`alter table retrieval.lost_collections rename to collections`;
  await until('the replica is ready', async () => (await readyz()) === 200);
  await sql`alter schema relations rename to lost`;
  await until('the schema is in the log', () =>
    lines.some((line) => line.includes('"tables":"relations.migrations relations.tuples"')),
  );
  expect(await readyz()).toBe(503);
  expect((await list()).status).toBe(503);
  await sql`alter schema lost rename to relations`;
  await until('the replica is ready again', async () => (await readyz()) === 200);
  expect([(await list()).status, await answers()]).toEqual([200, '1']);
});
