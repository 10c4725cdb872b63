import { describe, expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { connectSql, passwordFrom } from '#sql/connect';
import { startCountingProxy } from '#sql/testing/counting-proxy';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { resourcesOf } from '../testing/agent-resources.ts';
import { startCatalogue } from '../testing/start-catalogue.ts';
import { followAgents } from './follow-agents.ts';
import { unguardedCards } from './judge-card.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a worker of the catalogue that starts again'), () => {
  test('a start compares the stored agents in one statement, and writes only the agent that changed', async () => {
    await using parts = new AsyncDisposableStack();
    const resources = parts.use(await startFakeApiServer());
    const files = parts.use(await openTestDatabase());
    const names = Array.from({ length: 12 }, (_, at) => `agent-${at}`);
    const { database } = files;
    {
      await using former = await startCatalogue(files, { resources });
      for (const name of names) {
        const agent = await former.publish(name);
        if (name !== 'agent-3') continue;
        const { version } = resourcesOf({ ...agent, description: 'Another description.' });
        resources.change('agentversions', `${name}-1`, (object) => Object.assign(object, { spec: version.spec }));
        await until('the change is stored', async () => {
          const [row] = await database.sql`select description from catalogue.agents where resource = ${name}`;
          return row?.['description'] === 'Another description.';
        });
      }
    }
    await database.sql`update catalogue.agents set description = 'An old description.' where resource = 'agent-7'`;
    const times = async (): Promise<readonly string[]> =>
      (await database.sql`select resource, updated_at::text from catalogue.agents order by resource`).map(
        (row) => `${row['resource']} ${row['updated_at']}`,
      );
    const before = await times();
    const proxy = parts.use(await startCountingProxy(files.url));
    const counted = parts.use(
      connectSql({ url: proxy.url, applicationName: 'test', password: passwordFrom(files.passwordFile) }),
    );
    await counted.sql`select 1`;
    proxy.take();
    const credentials = { authorization: () => 'Bearer token' };
    const feed = parts.use(
      followAgents({
        client: parts.use(createClient({ url: resources.url, credentials, namespace: 'default' })),
        database: counted,
        logger: createLogger({ service: 'catalogue', level: 'error', destination: { write: () => undefined } }),
        clock: systemClock,
        cards: unguardedCards,
        acceptsMassRemoval: false,
        onChange: () => undefined,
        pollMs: 600_000,
      }),
    );
    await until('the agents are current', () => feed.ageMs() < 60_000);
    // The stored rows are read twice, one agent is written in a transaction, and the age is stored.
    expect(proxy.take().statements).toBeLessThan(12);
    const written = (await times()).filter((one) => !before.includes(one));
    expect(written.map((one) => one.split(' ')[0])).toEqual(['agent-7']);
    const [row] = await database.sql`select description from catalogue.agents where resource = 'agent-7'`;
    expect(row?.['description']).not.toBe('An old description.');
  });
});
