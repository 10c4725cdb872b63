import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

type Records = readonly Readonly<Record<string, unknown>>[];

describe.skipIf(missingPostgres !== undefined)(onPostgres('a catalogue that cannot follow the resources'), () => {
  const parts = new AsyncDisposableStack();
  const time = { offset: 0 };
  const clock = { now: () => performance.now() + time.offset, date: () => new Date() };
  let world: CatalogueWorld;
  let agent: AgentSketch;

  beforeAll(async () => {
    world = parts.use(await openCatalogue({ overrides: { clock } }));
    agent = await world.publish('weather');
    await world.allow('ann', 'view', agent);
    await world.allow('ann', 'invoke', agent);
  });
  afterAll(() => parts.disposeAsync());

  /** The agent as a read, a list and a search answer it. */
  const answers = async (): Promise<Records> => {
    const one = await world.ask('ann', `/api/v1/agents/${agent.agentId}`);
    const listed = await world.ask('ann', '/api/v1/agents');
    const found = await world.ask('ann', '/api/v1/agents/search', {
      method: 'POST',
      body: JSON.stringify({ query: 'weather', workspaceId: 'support' }),
      headers: { 'content-type': 'application/json' },
    });
    return [one.json, ...(listed.json['items'] as Records), ...(found.json['matches'] as Records)];
  };
  const withInterface = async () => (await answers()).filter((one) => one['invocationInterface'] !== undefined).length;
  const setAge = (seconds: number) => world.database.sql`
    update catalogue.feed set current_at = clock_timestamp() - make_interval(secs => ${seconds}::float8)`;
  const failures = ({ log }: CatalogueWorld) => log().split('watch_failed').length - 1;
  const isAway = (one: CatalogueWorld) => {
    one.resources.setAway(true);
    return until('no watch is open', () => failures(one) >= 3);
  };

  verifies(
    ['catalogue:invocation:version-not-ready', 'catalogue:error:unavailable-reads'],
    'an agent that was stored more than 60 seconds ago is read, listed and found without its interface, until it is followed again',
    async () => {
      await isAway(world);
      await setAge(45);
      expect(await withInterface()).toBe(3);
      // A pass that began before may still store its age.
      await until('the interface is gone', async () => {
        await setAge(61);
        return (await withInterface()) === 0;
      });
      const before = failures(world);
      await until('the watches have failed again', () => failures(world) >= before + 3);
      expect(await withInterface()).toBe(0);
      expect((await answers()).map(({ agentId, state }) => [agentId, state])).toEqual(
        Array.from({ length: 3 }, () => [agent.agentId, 'active']),
      );
      const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
      const [, seconds] = /^portcullis_catalogue_feed_age_seconds\{[^}]*\} ([\d.]+)$/m.exec(metrics) ?? [];
      expect(Number(seconds)).toBeGreaterThan(60);
      expect((await fetch(`${world.adminUrl}/readyz`)).status).toBe(200);
      time.offset += 61_000;
      world.resources.setAway(false);
      await until('the interface is shown', async () => (await withInterface()) === 3);
    },
  );

  test('a worker that cannot follow the resources for more than 60 seconds is not ready until it can follow them again', async () => {
    const still = createFakeClock();
    await using worker = await openCatalogue({ config: { role: 'worker' }, overrides: { clock: still } });
    const readyz = async () => (await fetch(`${worker.adminUrl}/readyz`)).status;
    await isAway(worker);
    still.advance(60_000);
    expect(await readyz()).toBe(200);
    still.advance(1);
    expect(await readyz()).toBe(503);
    expect(await (await fetch(`${worker.adminUrl}/readyz`)).text()).toContain('cannot be followed');
    worker.resources.setAway(false);
    await until('the worker is ready', async () => (await readyz()) === 200);
  });
});
