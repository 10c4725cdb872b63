import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openService } from '../../operator/management/testing/open-service.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { callUrl } from './call-api.ts';
import { newKey } from './start-management.ts';

type Item = { readonly content: { readonly outcome: string } };

const policies = '/api/v1/guardrail-policies';

/** Ends the sessions that hold a lock, and waits for their end. */
const endHolders = `select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and granted
  and database = (select oid from pg_database where datname = current_database())`;

/** A service with a policy of two revisions. */
async function openPolicy(wrapClient: (client: KubeClient) => KubeClient) {
  const open = await openService({ wrapClient });
  const call = (path: string, method: string, body?: unknown, etag?: string) =>
    callUrl(`${open.service.url}${path}`, {
      ...{ method, body, token: null },
      headers: { 'idempotency-key': newKey(), 'if-match': etag },
    });
  const policy = { name: 'long', definition: definitionOf('long') };
  const path = `${policies}/${(await call(policies, 'POST', policy)).json.target.id}`;
  const read = await until('the policy is recorded', async () => {
    const answer = await call(path, 'GET');
    return answer.status === 200 && answer;
  });
  await call(path, 'PUT', { ...policy, status: 'draft', description: '2' }, String(read.headers['etag']));
  const { id } = read.json;
  return {
    ...{ open, call, id },
    purge: () => call(`/api/v1/policy-purges/${id}/1`, 'POST'),
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('the lock of rights'), () => {
  test('a right can be changed while a purge reads long lists of resources', async () => {
    const opened = Promise.withResolvers<void>();
    let isReading = false;
    const wrapClient = (client: KubeClient): KubeClient => ({
      ...client,
      async list(kind, options) {
        if (kind.plural === kinds.agentVersion.plural) {
          isReading = true;
          await opened.promise;
        }
        return client.list(kind, options);
      },
    });
    await using world = await openPolicy(wrapClient);
    const purging = world.purge();
    await until('the purge reads lists', () => isReading);
    const right = { role: 'viewer', holder: { issuer: 'test', subject: 'granted-meanwhile' } };
    expect((await world.call('/api/v1/rights/grant', 'POST', right)).status).toBe(200);
    opened.resolve();
    expect((await purging).json).toMatchObject({ revision: 1, changed: true });
  });

  test.each(['after it is stored', 'after its copies were removed'])(
    'a purge whose session ended %s removes nothing more',
    async (moment) => {
      const isStored = moment === 'after it is stored';
      const ended = { when: async () => {} };
      await using world = await openPolicy((client) => ({
        ...client,
        async get(kind, ...others) {
          if (kind.plural === kinds.guardrailPolicy.plural) await ended.when();
          return client.get(kind, ...others);
        },
      }));
      const { sql } = world.open.database.database;
      await until('the commands have ended', async () => {
        const rows = await sql`select from management.operations where state not in ('succeeded', 'failed')`;
        return rows.length === 0;
      });
      await sql`update management.operations set origin = (origin::jsonb || '{"message": "secret"}')::text`;
      if (isStored) {
        await sql.unsafe(`create function end_holders() returns trigger language plpgsql as
          $$ begin perform * from (${endHolders}) as ended; return new; end $$`);
        await sql`create trigger ending after insert on management.purges execute function end_holders()`;
      } else {
        ended.when = async () => void (await sql.unsafe(endHolders));
      }
      expect((await world.purge()).status).toBe(503);
      const revision = await world.open.client.get<PolicyRevision>(kinds.policyRevision, `${world.id}-1`);
      expect(revision?.spec.purgeTime).toBeUndefined();
      const kept = await sql`select from management.operations where origin::jsonb ->> 'message' = 'secret'`;
      expect(kept).toHaveLength(isStored ? 2 : 1);
      expect(await sql`select from management.purges`).toHaveLength(1);
      await sql`drop trigger if exists ending on management.purges`;
      await sql`
        insert into management.purges (purge_id, revision, purge_time, entry)
        select gen_random_uuid(), revision, purge_time, entry from management.purges, generate_series(1, 6)`;
      await sql`
        insert into management.purges (purge_id, revision, purge_time, entry)
        values ('00000000-0000-0000-0000-000000000001', 'later', 'later', 'of a newer release')`;
      await sql`update management.purges set created_at = clock_timestamp() - interval '31 seconds'`;
      await until('every readable purge has an entry', async () => {
        return (await sql`select from management.purges`).length === 1;
      });
      const { items } = (await world.call('/api/v1/audit?action=revision.purge', 'GET')).json;
      expect(items.map(({ content }: Item) => content.outcome)).toEqual(Array.from({ length: 7 }, () => 'failed'));
    },
  );
});
