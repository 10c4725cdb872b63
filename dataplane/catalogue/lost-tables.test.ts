import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openTestDatabase } from '#sql/testing/test-database';
import { startCatalogue } from './testing/start-catalogue.ts';

test('a table or schema that the catalogue lost is reported without a probe, requests are 503, and a restore repairs it', async () => {
  await using opened = await openTestDatabase();
  await using world = await startCatalogue(opened, { overrides: { tablesMs: 20 } });
  const agent = await world.publish('weather');
  await world.allow('ann', 'view', agent);
  const readyz = async () => (await fetch(`${world.adminUrl}/readyz`)).status;
  const answers = async () =>
    /^portcullis_catalogue_database_answers\{[^}]*\} (\d)$/m.exec(
      await (await fetch(`${world.adminUrl}/metrics`)).text(),
    )?.[1];
  expect(await world.listed('ann')).toEqual([agent.agentId]);
  expect([await readyz(), await answers()]).toEqual([200, '1']);
  const { sql } = opened.database;
  await sql`alter table catalogue.agents rename to lost_agents`;
  await sql`alter schema relations rename to lost`;
  await until('both are in the log', () =>
    world.log().includes('"tables":"catalogue.agents relations.migrations relations.tuples"'),
  );
  expect([await readyz(), await answers()]).toEqual([503, '0']);
  expect((await world.ask('ann', '/api/v1/agents')).status).toBe(503);
  await sql`alter schema lost rename to relations`;
  expect((await world.ask('ann', '/api/v1/agents')).status).toBe(503);
  await sql`alter table catalogue.lost_agents rename to agents`;
  await until('the replica is ready', async () => (await readyz()) === 200);
  expect(world.log()).toContain('database_complete');
  expect([await world.listed('ann'), await answers()]).toEqual([[agent.agentId], '1']);
});
