import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { openTestDatabase } from '#sql/testing/test-database';
import { startMemory } from './testing/start-memory.ts';

test('a table or schema that the memory service lost is reported without a probe, requests are 503, and a restore repairs it', async () => {
  await using opened = await openTestDatabase();
  const lines: string[] = [];
  const logger = createLogger({
    service: 'memory',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  await using memory = await startMemory(opened, { overrides: { logger, tablesMs: 20 } });
  const user = { user: 'ann' };
  await memory.say(user, 'I live in Lisbon.');
  const readyz = async () => (await fetch(`${memory.adminUrl}/readyz`)).status;
  const answers = async () =>
    /^portcullis_memory_database_answers\{[^}]*\} (\d)$/m.exec(
      await (await fetch(`${memory.adminUrl}/metrics`)).text(),
    )?.[1];
  expect([await readyz(), await answers()]).toEqual([200, '1']);
  const { sql } = opened.database;
  await sql`alter table memory.memories rename to lost_memories`;
  await sql`alter schema audit rename to lost_audit`;
  await until('both are in the log', () =>
    lines.some((line) => /"tables":"audit\.[a-z_ .]*memory\.memories"/.test(line)),
  );
  expect([await readyz(), await answers()]).toEqual([503, '0']);
  const listed = await memory.call(user, 'GET', '/v1/memories?user_id=ann');
  expect([listed.status, listed.json['code']]).toEqual([503, 'unavailable']);
  await sql`alter table memory.lost_memories rename to memories`;
  await sql`alter schema lost_audit rename to audit`;
  await until('the replica is ready', async () => (await readyz()) === 200);
  expect(await answers()).toBe('1');
  expect(lines.some((line) => line.includes('database_complete'))).toBe(true);
  expect(await memory.all(user)).toEqual(['I live in Lisbon']);
});
