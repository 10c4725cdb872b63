import { describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openCatalogue } from '../testing/open-catalogue.ts';

const oldText = 'An old description.';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a database of the catalogue that loses rows'), () => {
  test('every ten minutes all agents are compared with their rows, also without a change of a resource', async () => {
    const time = createFakeClock();
    const clock = { now: time.now, date: () => new Date() };
    await using world = await openCatalogue({ overrides: { clock } });
    const [kept, gone, lost] = [await world.publish('kept'), await world.publish('gone'), await world.publish('lost')];
    world.resources.remove('agents', 'gone');
    await until('the agent is removed', async () => (await world.stored(gone)) === 'removed');
    const { sql } = world.database;
    const descriptionOf = async (resource: string): Promise<unknown> => {
      const [row] = await sql`select description from catalogue.agents where resource = ${resource}`;
      return row?.['description'];
    };
    const before = await descriptionOf('kept');

    // A copy from before the last changes takes the place of the database.
    await sql`update catalogue.agents set description = ${oldText} where resource = 'kept'`;
    await sql`update catalogue.agents set state = 'active' where resource = 'gone'`;
    await sql`delete from catalogue.outbox where agent_id = ${lost.agentId}::uuid`;
    await sql`delete from catalogue.agents where resource = 'lost'`;
    time.advance(599_999);
    await world.publish('another');
    expect([await descriptionOf('kept'), await world.stored(gone), await world.stored(lost)]).toEqual([
      oldText,
      'active',
      undefined,
    ]);

    time.advance(1);
    await until('the rows are as the resources', async () => {
      const states = [await world.stored(kept), await world.stored(gone), await world.stored(lost)];
      return states.join() === 'active,removed,active' && (await descriptionOf('kept')) === before;
    });
  });
});
