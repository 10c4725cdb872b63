import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Deployment, Lease } from '#kube/client/builtin-types';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { bindingObject, guardedBy, policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { useWorkloadWorld } from './open-workload-namespace.ts';
import { startClusterOperator, startGatewayPod, testWorkload } from './start-cluster-operator.ts';

describe.skipIf(missingApiServer !== undefined)(onApiServer('an operator in a cluster'), () => {
  const world = useWorkloadWorld();

  const start = (change: Parameters<typeof startClusterOperator>[3] = {}) =>
    startClusterOperator(world.server, world.namespace, world.folder, change);

  async function routeOf(name: string, says: (route: Stored<GatewayRoute>) => boolean = () => true) {
    return until(`the route ${name}`, async () => {
      // The test makes the pods of every workload ready.
      for (const { metadata } of (await world.namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items) {
        await world.namespace.setPods(metadata.name, true);
      }
      const route = await world.namespace.client.get<GatewayRoute>(kinds.gatewayRoute, name);
      return route !== undefined && says(route) ? route : undefined;
    });
  }

  async function applied(name: string, token = '') {
    return until(`${name} is applied`, async () => {
      const binding = await world.namespace.client.get<ModelBinding>(kinds.modelBinding, name);
      const condition = binding?.status?.conditions?.find(({ type }) => type === 'Applied');
      const isCurrent = condition?.observedGeneration === binding?.metadata.generation;
      const isThis = binding?.status?.applications?.[0]?.operationId === token;
      return isCurrent && isThis && condition?.status === 'True' ? binding : undefined;
    });
  }

  async function apply(): Promise<Stored<GatewayRoute>> {
    const replica = await startGatewayPod(world.namespace, world.folder, 'gateway-1');
    await world.namespace.client.create(kinds.guardrailPolicy, policyObject('guard', { refusalText: 'Ask a person.' }));
    await world.namespace.client.create(kinds.modelBinding, bindingObject('chat'));
    const route = await routeOf('chat');
    await replica.report('take');
    await applied('chat');
    return route;
  }

  test('an operator applies a binding, and writes nothing when idle, even after a restart', async () => {
    const first = await start();
    const route = await apply();
    const workload = route.spec.workload ?? '';
    expect(route.spec.guardrail).toMatchObject({
      mode: 'Policy',
      refusalText: 'Ask a person.',
      addresses: [`http://${workload}.${world.namespace.client.namespace}.svc:8000`],
    });
    const generation = await world.namespace.client.get<RuntimeWorkload>(kinds.runtimeWorkload, workload);
    expect(generation).toMatchObject({ spec: { build: 'portcullis:1' }, status: { state: 'Ready', readyReplicas: 1 } });
    await until('people are told', async () => {
      const columns = '--output=custom-columns=:.regarding.kind,:.reason,:.reportingController';
      const told = (await world.namespace.kubectl('get', 'events.events.k8s.io', columns)).replaceAll(/ +/g, ' ');
      const ours = ['GuardrailPolicy Recorded', 'RuntimeWorkload WorkloadReady', 'ModelBinding Applied'];
      return ours.every((event) => told.includes(`${event} portcullis.dev/operator`));
    });
    const before = await world.namespace.atRest();
    await first[Symbol.asyncDispose]();
    await using second = await start();
    await until('it leads', () => second.events.includes('leading'));
    await world.namespace.setPods(workload, true);
    expect(await world.namespace.atRest()).toEqual(before);
    expect((await fetch(new URL('/readyz', second.operator.url))).status).toBe(200);
    expect((await fetch(new URL('/livez', second.operator.url))).status).toBe(200);
  });

  test.each([
    { when: 'in time', progressDeadlineMs: 600_000, ends: [] },
    { when: 'after its application failed', progressDeadlineMs: 1_000, ends: ['progress_deadline_exceeded'] },
  ])(
    'a condition names a missing Secret, and the binding is applied when the Secret appears $when',
    async ({ progressDeadlineMs, ends }) => {
      await using _operator = await start({ progressDeadlineMs });
      const replica = await startGatewayPod(world.namespace, world.folder, 'gateway-1');
      await world.namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
      await world.namespace.client.create(kinds.modelBinding, bindingObject('chat'));
      const waiting = { reason: 'CreateContainerConfigError', message: 'secret "token" not found' };
      const said = await until('the binding names the Secret', async () => {
        for (const { metadata } of (await world.namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items) {
          await world.namespace.setPods(metadata.name, false, { state: { waiting } });
        }
        const binding = await world.namespace.client.get<ModelBinding>(kinds.modelBinding, 'chat');
        return binding?.status?.conditions?.find(({ message }) => message.includes('secret "token" not found'));
      });
      expect(said.status).not.toBe('True');
      await until('its application fails if expected', async () => {
        const binding = await world.namespace.client.get<ModelBinding>(kinds.modelBinding, 'chat');
        return (binding?.status?.applications ?? []).length === ends.length;
      });
      // The kubelet retries: its pods become ready.
      await routeOf('chat');
      await replica.report('take');
      const { status } = await applied('chat');
      expect(JSON.stringify(status?.conditions)).not.toContain('not found');
      // On a slow machine the short deadline may also expire, which is reported as an intermediate failure.
      const outcomes = status?.applications?.map(({ outcome, reason }) => reason ?? outcome);
      expect(outcomes?.[0]).toBe('Applied');
      expect(outcomes?.slice(1).at(-1)).toBe(ends[0]);
    },
  );

  test('an upgrade of the operator moves no workload; a reapplied binding runs on the new build', async () => {
    const first = await start();
    const route = await apply();
    const old = route.spec.workload ?? '';
    const deployment = await world.namespace.client.get<Deployment>(builtinKinds.deployment, old);
    const before = await world.namespace.atRest();
    await first[Symbol.asyncDispose]();
    await using second = await start({ files: { 'workload.yaml': testWorkload.replace(':1', ':2') } });
    await until('it leads', () => second.events.includes('leading'));
    expect(await world.namespace.atRest()).toEqual(before);
    const now = await world.namespace.client.get<Deployment>(builtinKinds.deployment, old);
    expect(now?.metadata.generation).toBe(deployment?.metadata.generation);
    await world.namespace.kubectl(
      'patch',
      'modelbinding',
      'chat',
      '--type=merge',
      '--patch={"spec":{"apply":"again"}}',
    );
    const moved = await routeOf('chat', ({ spec }) => spec.token === 'again');
    expect(moved.spec.workload).not.toBe(old);
    const next = await world.namespace.client.get<Deployment>(builtinKinds.deployment, moved.spec.workload ?? '');
    expect(next?.spec.template.spec.containers[0]?.image).toBe('portcullis:2');
  });

  test('a warm standby takes over when the leader exits', async () => {
    const first = await start({ replica: 'operator-0' });
    await until('it leads', () => first.events.includes('leading'));
    await using second = await start({ replica: 'operator-1' });
    expect((await fetch(new URL('/readyz', second.operator.url))).status).toBe(200);
    await apply();
    expect(second.events).not.toContain('leading');
    expect(second.events).not.toContain('route_written');
    await first[Symbol.asyncDispose]();
    await until('the other operator is the leader', () => second.events.includes('leading'));
    await patchUnguarded(world.namespace.client, 'chat', [
      { op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } },
    ]);
    await routeOf('chat', ({ spec }) => spec.guardrail.mode === 'None');
    expect(second.events).toContain('route_written');
  });

  test('an operator whose lease is taken stops acting and reports it', async () => {
    await using operator = await start();
    await apply();
    const lease = await world.namespace.client.get<Lease>(builtinKinds.lease, 'portcullis-operator');
    await world.namespace.client.patch(builtinKinds.lease, 'portcullis-operator', [
      { op: 'replace', path: '/spec/holderIdentity', value: 'somebody-else' },
      { op: 'replace', path: '/spec/leaseDurationSeconds', value: 3_600 },
      { op: 'test', path: '/metadata/uid', value: lease?.metadata.uid },
    ]);
    expect((await operator.lost).message).toContain('another process took the lease');
    const before = await world.namespace.atRest();
    await world.namespace.client.patch(kinds.modelBinding, 'chat', [
      { op: 'replace', path: '/spec/guardrail', value: guardedBy(1, 'other') },
    ]);
    expect(await world.namespace.atRest()).toEqual([...before, 'patch modelbindings/chat']);
  });
});
