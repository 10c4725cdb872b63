import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the feed of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterAll(() => parts.disposeAsync());

  test('an agent whose status has no valid id does not delay the feed of other agents, and is stored once it has its id', async () => {
    const agent = await world.publish('restored');
    const setStatus = (change: object) =>
      world.resources.change('agents', agent.name, (object) => {
        object['status'] = { ...(object['status'] as object), ...change };
      });
    setStatus({ agentId: 'an id of another kind' });
    const other = await world.publish('other');
    expect(await world.stored(other)).toBe('active');
    setStatus({ agentId: agent.agentId, url: undefined });
    await until('the change of the first one is stored', async () => {
      const [row] = await world.database.sql`select url from catalogue.agents where resource = ${agent.name}`;
      return row?.['url'] === null;
    });
    expect(world.log()).not.toContain('feed_failed');
  });
});
