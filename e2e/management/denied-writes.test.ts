import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenService, openService } from '../../operator/management/testing/open-service.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { callUrl } from './call-api.ts';
import { newKey } from './start-management.ts';

const policies = '/api/v1/guardrail-policies';

/** A gate that answers writes before they reach the server of resources; if no answer is set, it is `open`. */
function createDoor() {
  const door = {
    answers: [] as ('forbidden' | 'network')[],
    wrapClient: (client: KubeClient): KubeClient => ({
      ...client,
      async patch(...asked) {
        const [code, ...later] = door.answers;
        if (code === undefined) return client.patch(...asked);
        door.answers = later.length === 0 && code === 'forbidden' ? door.answers : later;
        // An answer that is lost after the write took effect.
        if (code === 'network') await client.patch(...asked);
        throw new KubeError(code, code);
      },
    }),
  };
  return door;
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('writes that the server of the resources denies'), () => {
  const call = ({ service }: OpenService, path: string, options: Omit<Parameters<typeof callUrl>[1], 'token'> = {}) =>
    callUrl(`${service.url}${path}`, { ...options, token: null });

  async function openSaved() {
    const door = createDoor();
    const open = await openService({ wrapClient: door.wrapClient });
    const body = { name: 'denied', definition: definitionOf('denied') };
    const headers = { 'idempotency-key': newKey() };
    const { json } = await call(open, policies, { method: 'POST', body, headers });
    const path = `${policies}/${json.target.id}`;
    async function save(description: string) {
      const { headers: read } = await call(open, path);
      return call(open, path, {
        method: 'PUT',
        body: { ...body, status: 'draft', description },
        headers: { 'idempotency-key': newKey(), 'if-match': read['etag'] },
      });
    }
    await until('the policy is recorded', async () => (await call(open, path)).status === 200);
    async function entries(query: string) {
      const { items } = (await call(open, `/api/v1/audit?${query}`)).json;
      return (items as readonly AuditEntry[]).map(({ content }) => content);
    }
    return { open, door, id: json.target.id as string, save, entries };
  }

  test('a command whose write is denied is 503 and has an audit entry', async () => {
    const { open, door, id, save, entries } = await openSaved();
    await using _open = open;
    door.answers = ['forbidden'];
    const denied = await save('denied');
    expect([denied.status, denied.json.error.code]).toEqual([503, 'resources_unavailable']);
    const { traceId } = denied.json.error;
    expect(await entries('outcome=refused')).toMatchObject([
      { action: 'policy.update', code: 'resources_unavailable', target: { type: 'policy', id }, traceId, count: 1 },
    ]);
    door.answers = [];
    expect((await save('accepted')).status).toBe(202);
    expect(await entries('outcome=refused')).toHaveLength(1);
  });

  test('a purge whose first write is denied is 503 and has an audit entry', async () => {
    const { open, door, id, save, entries } = await openSaved();
    await using _open = open;
    expect((await save('second')).status).toBe(202);
    door.answers = ['forbidden'];
    const purge = () => call(open, `/api/v1/policy-purges/${id}/1`, { method: 'POST' });
    expect((await purge()).json.error.code).toBe('resources_unavailable');
    expect(await entries('action=revision.purge')).toMatchObject([
      { outcome: 'refused', code: 'resources_unavailable', target: { type: 'policy', id } },
    ]);
    door.answers = [];
    expect((await purge()).status).toBe(200);
  });

  test('a denied write after a lost answer is not a refusal, because the write may have succeeded', async () => {
    const { open, door, id, save, entries } = await openSaved();
    await using _open = open;
    door.answers = ['network', 'forbidden'];
    expect((await save('lost')).status).toBe(503);
    door.answers = [];
    expect(await entries('outcome=refused')).toEqual([]);
    const [operation] = await open.database.database.sql<{ written: boolean }[]>`
      select write is not null as written from management.operations where target_id = ${id} and state = 'pending'`;
    expect(operation?.written).toBe(true);
  });
});
