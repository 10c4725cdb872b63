import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy, GuardrailPolicySpec } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openService } from '../../operator/management/testing/open-service.ts';
import { holdMs } from '../../operator/revisions/decide-recording.ts';
import { acceptingJudge } from '../../operator/testing/accepting-judge.ts';
import { createInstantWorkloads } from '../../operator/testing/instant-workloads.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { startTestOperator } from '../../operator/testing/start-test-operator.ts';
import { actions, policyNameOf, revisionsOf } from './actions.ts';
import { callUrl, sendCommand } from './call-api.ts';
import { leaveCommand, replaceOf } from './leave-command.ts';
import { besidePlatform, startManagementReplicas } from './start-management.ts';

const list = '/api/v1/guardrail-policies';
const build = 'test-1';

async function descriptionsOf(client: KubeClient, policyId: string): Promise<readonly string[]> {
  const inOrder = await revisionsOf(client, policyId);
  expect(inOrder.map(({ spec }) => spec.number)).toEqual(inOrder.map((_one, at) => at + 1));
  return inOrder.map(({ spec }) => spec.description);
}

/** A write of the API and a later manual edit that keeps the API's operation id. */
async function writeAndEditOver(client: KubeClient, policyId: string, spec: GuardrailPolicySpec): Promise<void> {
  const name = await policyNameOf(client, policyId);
  await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [{ op: 'replace', path: '/spec', value: spec }]);
  const edit = { op: 'replace', path: '/spec/description', value: 'by hand' } as const;
  await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [edit]);
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('an unrecorded version'), () => {
  test('the operator delays a later edit for sixty seconds; then the operation of the unrecorded write fails with revision_lost', async () => {
    expect(holdMs).toBe(60_000);
    await using parts = new AsyncDisposableStack();
    let aheadMs = 0;
    const clock: Clock = { now: () => performance.now() + aheadMs, date: () => new Date() };
    let gate = Promise.resolve();
    let looks = 0;
    const wrapClient = (client: KubeClient): KubeClient => ({
      ...client,
      async get(kind, name) {
        if (kind === kinds.guardrailPolicy) {
          await gate;
          looks += 1;
        }
        return client.get(kind, name);
      },
    });
    const overrides = { workloads: createInstantWorkloads(build), judge: acceptingJudge, clock, wrapClient };
    const platform = parts.use(await startTestOperator({ config: { build }, overrides }));
    const api = parts.use(await startManagementReplicas(besidePlatform(platform.data, platform.operator.apiUrl)));
    const { client } = platform;
    const { id } = await actions(api, client).createPolicy('overtaken');
    const row = await replaceOf(client, id);
    await api.replicas[0]?.end();
    const opened = Promise.withResolvers<void>();
    gate = opened.promise;
    await writeAndEditOver(client, id, row.spec);
    await leaveCommand(api, { ...row, accepted: { uid: row.uid, generation: row.generation + 1 } });
    opened.resolve();
    await until('the operator delays the later edit', async () => {
      const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, await policyNameOf(client, id));
      return policy?.status?.conditions?.some(({ reason }) => reason === 'WaitingForRecord');
    });
    aheadMs = holdMs / 2;
    const before = looks;
    await until('the operator reconciled again', () => looks > before + 1);
    expect(await descriptionsOf(client, id)).toEqual(['']);
    aheadMs = holdMs;
    await until('the operator recorded the later edit', async () => (await descriptionsOf(client, id)).length === 2);
    expect(await descriptionsOf(client, id)).toEqual(['', 'by hand']);
    await api.startReplica(0);
    const end = await api.endOf(row.operationId);
    expect(end).toMatchObject({ state: 'failed', error: { code: 'revision_lost' } });
    expect((await api.call(`${list}/${id}`)).json).toMatchObject({ revision: 2, description: 'by hand' });
  });

  test('the management API delays a later edit for sixty seconds: reads show the recorded revision and a PUT is refused', async () => {
    await using open = await openService();
    const { client, clock, service } = open;
    const body = { name: 'held', definition: definitionOf('held') };
    const send = (method: 'POST' | 'PUT', path: string, key: string, etag?: string) =>
      sendCommand(`${service.url}${path}`, method, {
        key,
        etag,
        body: method === 'PUT' ? { ...body, status: 'draft' } : body,
      });
    const { id } = (await send('POST', list, 'key-of-the-first-one')).json.target;
    const path = `${list}/${id}`;
    const read = () => callUrl(`${service.url}${path}`, { token: null });
    const { spec } = await replaceOf(client, id);
    // The operation of the write has no row.
    await writeAndEditOver(client, id, spec);
    const held = await read();
    expect([held.status, held.json.revision, held.json.description]).toEqual([200, 1, '']);
    const etag = String(held.headers['etag']);
    expect((await send('PUT', path, 'key-of-the-second-one', etag)).status).toBe(503);
    clock.advance(59_999);
    const refused = await send('PUT', path, 'key-of-the-second-one', etag);
    expect([refused.status, refused.json.error.code]).toEqual([503, 'revision_pending']);
    expect(await descriptionsOf(client, id)).toEqual(['']);
    clock.advance(1);
    expect((await send('PUT', path, 'key-of-the-second-one', etag)).status).toBe(202);
    expect(await descriptionsOf(client, id)).toEqual(['', 'by hand', '']);
  });
});
