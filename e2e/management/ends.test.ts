import { describe, expect, test } from 'vitest';
import type { AuditEntry } from '#contracts/audit';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { policyNameOf } from './actions.ts';
import { openBusyWorld } from './open-busy-world.ts';

/** Delays the binding changes that the operator receives until the test releases them. */
function createGate() {
  let opened = Promise.withResolvers<void>();
  opened.resolve();
  return {
    close() {
      opened = Promise.withResolvers<void>();
    },
    open: () => opened.resolve(),
    wrapClient: (client: KubeClient): KubeClient => ({
      ...client,
      watch: (kind, options) =>
        kind === kinds.modelBinding
          ? afterwards(client.watch(kind, options), () => opened.promise)
          : client.watch(kind, options),
    }),
  };
}

async function* afterwards<T>(
  events: AsyncGenerator<T, void, void>,
  moment: () => Promise<void>,
): AsyncGenerator<T, void, void> {
  for await (const event of events) {
    await moment();
    yield event;
  }
}

async function openOperator(progressDeadlineMs: number) {
  const gate = createGate();
  const busy = await openBusyWorld({ replicas: 1, progressDeadlineMs, wrapClient: gate.wrapClient });
  return { ...busy, ...busy.act, gate };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('operations that end after the 202'), () => {
  test('the operation of an application whose policy was archived before the operator applied it fails with policy_archived', async () => {
    await using world = await openOperator(600_000);
    const { id } = await world.createPolicy('archived-meanwhile');
    const modelId = await world.createModel('archived-meanwhile');
    await world.applied(modelId, null, null);
    world.gate.close();
    const accepted = await world.apply(modelId, id, 1);
    expect(accepted.status).toBe(202);
    await world.savePolicy(id, { status: 'archived' });
    const name = await policyNameOf(world.client, id);
    await until('the operator has received the archived policy', async () => {
      const policy = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
      return policy?.status?.observedGeneration === policy?.metadata.generation;
    });
    world.gate.open();
    expect(await world.api.ended(accepted)).toMatchObject({ state: 'failed', error: { code: 'policy_archived' } });
    const { json } = await world.readBinding(modelId);
    expect([json.state, json.observation.reason]).toEqual(['failed', 'policy_archived']);
    expect(json.observation.serving).toMatchObject({ policyId: null });
  });

  test('the operation of an application without confirmations fails with progress_deadline_exceeded, and the application that the operator completes later is in the audit log', async () => {
    await using world = await openOperator(5_000);
    const { id } = await world.createPolicy('overdue');
    const modelId = await world.createModel('overdue');
    await world.applied(modelId, id, 1);
    world.gateway.attitude = 'pend';
    const operation = await world.api.ended(await world.apply(modelId, id, 1));
    expect(operation).toMatchObject({ state: 'failed', error: { code: 'progress_deadline_exceeded' } });
    const overdue = (await world.readBinding(modelId)).json;
    expect([overdue.state, overdue.observation.reason]).toEqual(['failed', 'progress_deadline_exceeded']);
    world.gateway.attitude = 'take';
    await world.untilState(modelId, 'applied');
    const after = await world.api.call(`/api/v1/operations/${operation.operationId}`);
    expect(after.json).toEqual(operation);
    const observed = async () => {
      const { json } = await world.api.call(`/api/v1/audit?targetId=${modelId}&outcome=observed&action=binding.apply`);
      return json.items.map(({ content }: AuditEntry) => [content.code, content.author, content.after?.revision]);
    };
    await until('the late application is recorded', async () => (await observed()).length > 0);
    // The author is the one that the command stated in the binding.
    const author = { kind: 'claimed', name: expect.stringContaining('root-admin') };
    expect(await observed()).toEqual([[null, author, 1]]);
  });
});
