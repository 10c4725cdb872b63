import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fault, type FaultyProxy, startFaultyProxy } from '#kit/testing/faulty-proxy';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { revisionsOf } from './actions.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';

/** The replica that is killed; its requests to the server of the resources pass the proxy. */
const killed = 1;

type Item = { readonly content: { readonly outcome: string; readonly author: { readonly subject?: string } } };

describe.skipIf(missingPostgres !== undefined)(onPostgres('a purge whose process is killed'), () => {
  const parts = new AsyncDisposableStack();
  let world: ManagementWorld;
  let proxy: FaultyProxy;

  beforeAll(async () => {
    world = parts.use(await openManagementWorld());
    proxy = parts.use(await startFaultyProxy(world.apiUrl));
  });
  afterAll(() => parts.disposeAsync());

  const purge = (id: string, replica: number) =>
    world.api.call(`/api/v1/policy-purges/${id}/1`, { method: 'POST', replica });
  /** Outcome and author of each entry about the purge, the oldest first. */
  const entriesOf = async (id: string): Promise<readonly string[]> => {
    const { items } = (await world.api.call(`/api/v1/audit?action=revision.purge&targetId=${id}-1`)).json;
    return items.map(({ content }: Item) => `${content.outcome} ${content.author.subject}`).toReversed();
  };
  const isPurged = async (id: string): Promise<boolean> => {
    const [first] = await revisionsOf(world.client, id);
    return first?.spec.purgeTime !== undefined;
  };
  /** Makes the purges that were left old enough to be settled. */
  const age = () => world.api.database.database.sql`
    update management.purges set created_at = clock_timestamp() - make_interval(secs => 31)`;

  test.each([
    { when: 'before the text is removed', fault: { kind: 'silence' }, isMade: false },
    { when: 'after the text was removed', fault: { kind: 'lost', ending: 'silence' }, isMade: true },
  ] satisfies readonly { readonly when: string; readonly fault: Fault; readonly isMade: boolean }[])(
    'a purge whose process is killed $when has one audit entry with the actual outcome',
    async ({ fault, isMade }) => {
      const { id } = await world.createPolicy(`purge-made-${isMade}`, definitionOf('x'));
      await world.savePolicy(id, { description: 'second' });
      await world.api.startReplica(killed, { PORTCULLIS_API_URL: proxy.url });
      let isKept = false;
      proxy.choose = ({ method, body }) => {
        if (method !== 'PATCH' || !body.includes('"purgeTime"')) return { kind: 'pass' };
        isKept = true;
        return fault;
      };
      const unanswered = purge(id, killed).catch(() => undefined);
      await until('the removal is sent', async () => isKept && (await isPurged(id)) === isMade);
      await world.api.replicas[killed]?.end('SIGKILL');
      await unanswered;
      expect(await entriesOf(id)).toEqual([]);
      await age();
      await until('the purge has an entry', async () => (await entriesOf(id)).length > 0);
      expect(await entriesOf(id)).toEqual([isMade ? 'accepted root-admin' : 'failed root-admin']);
      expect(await isPurged(id)).toBe(isMade);
      expect((await purge(id, 0)).json).toMatchObject({ revision: 1, changed: !isMade });
      expect(await entriesOf(id)).toEqual([...(isMade ? [] : ['failed root-admin']), 'accepted root-admin']);
    },
  );
});
