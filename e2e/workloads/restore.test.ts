import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import { listAll } from '#kube/client/list-all';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { openWorkloadNamespace, useWorkloadWorld, type WorkloadNamespace } from './open-workload-namespace.ts';
import { startClusterOperator, startGatewayPod } from './start-cluster-operator.ts';

/** Kinds of a backup in restore order: revisions first. */
const backedUp = [
  kinds.policyRevision,
  kinds.guardrailPolicy,
  kinds.modelBinding,
  kinds.runtimeWorkload,
  kinds.gatewayRoute,
] as const;

describe.skipIf(missingApiServer !== undefined)(onApiServer('a restore'), () => {
  const world = useWorkloadWorld();

  async function applied(namespace: WorkloadNamespace, report: () => Promise<void>) {
    await until('the route names this namespace', async () => {
      const { items } = await namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
      for (const { metadata } of items) await namespace.setPods(metadata.name, true);
      const route = await namespace.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
      const guardrail = route?.spec.guardrail;
      return guardrail?.mode === 'Policy' && guardrail.addresses[0]?.includes(namespace.client.namespace);
    });
    return until('it is applied', async () => {
      await report();
      const binding = await namespace.client.get<ModelBinding>(kinds.modelBinding, 'chat');
      const condition = binding?.status?.conditions?.find(({ type }) => type === 'Applied');
      return condition?.status === 'True' ? binding : undefined;
    });
  }

  test('a restore of another cluster’s resources continues with the same application, revision and workload', async () => {
    const before = await openWorkloadNamespace(world.server);
    const first = await startClusterOperator(world.server, before, world.folder);
    const replica = await startGatewayPod(before, world.folder, 'gateway-1');
    await before.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await before.client.create(kinds.modelBinding, bindingObject('chat'));
    await applied(before, () => replica.report('take'));
    await before.atRest();
    await first[Symbol.asyncDispose]();

    const after = await openWorkloadNamespace(world.server);
    for (const kind of backedUp) {
      for (const { apiVersion, metadata, spec } of (await listAll<Resource>(before.client, kind)).items) {
        const { name, labels, annotations, finalizers } = metadata;
        const kept = { name, labels, annotations, finalizers };
        await after.client.create(kind, { apiVersion, kind: kind.kind, metadata: kept as never, spec });
      }
    }
    const restored = await after.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
    await using second = await startClusterOperator(world.server, after, world.folder);
    const next = await startGatewayPod(after, world.folder, 'gateway-1');
    const binding = await applied(after, () => next.report('take'));
    expect(second.events).not.toContain('application_run_again');

    const route = await after.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
    expect(route?.spec.generationId).toBe(restored?.spec.generationId);
    expect(route?.spec.workload).toBe(restored?.spec.workload);
    expect(route?.spec.binding.uid).toBe(binding.metadata.uid);
    expect(route?.metadata.ownerReferences).toMatchObject([
      { kind: 'ModelBinding', name: 'chat', uid: binding.metadata.uid },
    ]);
    expect(binding.status?.applications?.[0]).toMatchObject({
      outcome: 'Applied',
      generationId: restored?.spec.generationId,
    });
    const policy = await after.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    expect(policy?.status?.latestRevision?.number).toBe(1);
    expect((await after.client.list(kinds.policyRevision)).items).toHaveLength(1);
    expect((await after.client.list(kinds.runtimeWorkload)).items).toHaveLength(1);
    const maps = await after.client.list(builtinKinds.configMapMetadata, {
      labelSelector: 'app.kubernetes.io/name=portcullis-bundle',
    });
    expect(maps.items).toHaveLength(1);
    expect(second.events).toContain('bundle_restored');
  });
});
