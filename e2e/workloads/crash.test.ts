import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import type { GatewayRoute } from '#resources/gateway-route';
import { type Kind, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { acceptingJudge } from '../../operator/testing/accepting-judge.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { useApiServer } from '../kube/shared-api-server.ts';
import { openWorkloadNamespace, type WorkloadNamespace } from './open-workload-namespace.ts';
import { startClusterOperator, startGatewayPod } from './start-cluster-operator.ts';

const writes: ReadonlySet<string> = new Set(['create', 'patch', 'patchStatus', 'delete']);
/** Writes that do not affect decisions; their number differs between runs. */
const aside: ReadonlySet<Kind> = new Set([builtinKinds.lease, builtinKinds.event]);

/**
 * A client of a process that is killed after its n-th write: the write succeeds, but the process never receives the
 * response.
 */
function killedAfter(deadAt: number) {
  let count = 0;
  let isDead = false;
  const wrapClient = (client: KubeClient): KubeClient =>
    new Proxy(client, {
      get(target, member, receiver) {
        const value = Reflect.get(target, member, receiver);
        if (typeof value !== 'function' || member === 'watch') return value;
        return async (...args: unknown[]) => {
          if (isDead) throw new KubeError('network', 'the process was killed');
          if (!writes.has(String(member)) || aside.has(args[0] as Kind)) return Reflect.apply(value, target, args);
          count += 1;
          if (count !== deadAt) return Reflect.apply(value, target, args);
          await (Reflect.apply(value, target, args) as Promise<unknown>).finally(() => {
            isDead = true;
          });
          throw new KubeError('network', 'the process was killed');
        };
      },
    });
  return { wrapClient, isDead: () => isDead };
}

describe.skipIf(missingApiServer !== undefined)(
  onApiServer('an operator that is killed after any of its writes'),
  () => {
    const server = useApiServer();

    async function appliedIn(
      namespace: WorkloadNamespace,
      report: () => Promise<void>,
      isDead: () => boolean,
    ): Promise<boolean> {
      return until(
        'the binding is applied, or the operator was killed',
        async () => {
          if (isDead()) return 'dead' as const;
          const { items } = await namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
          for (const { metadata } of items) await namespace.setPods(metadata.name, true);
          if ((await namespace.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat')) !== undefined) await report();
          const binding = await namespace.client.get<ModelBinding>(kinds.modelBinding, 'chat');
          const condition = binding?.status?.conditions?.find(({ type }) => type === 'Applied');
          return condition?.status === 'True' ? ('applied' as const) : undefined;
        },
        { deadlineMs: 60_000, everyMs: 100 },
      ).then((end) => end === 'applied');
    }

    async function liveTwice(deadAt: number): Promise<boolean> {
      const namespace = await openWorkloadNamespace(server);
      const folder = await mkdtemp(join(tmpdir(), 'portcullis-crash-'));
      try {
        const replica = await startGatewayPod(namespace, folder, 'gateway-1');
        const report = () => replica.report('take');
        await namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
        await namespace.client.create(kinds.modelBinding, bindingObject('chat'));
        const life = killedAfter(deadAt);
        const first = await startClusterOperator(server, namespace, folder, {
          overrides: { wrapClient: life.wrapClient, judge: acceptingJudge },
        });
        const isDone = await appliedIn(namespace, report, life.isDead);
        await first[Symbol.asyncDispose]();
        if (!isDone) {
          // A separate lease, because the lease of a killed process must expire first.
          await using _second = await startClusterOperator(server, namespace, folder, {
            leaseName: 'second-life',
            overrides: { judge: acceptingJudge },
          });
          expect(await appliedIn(namespace, report, () => false)).toBe(true);
          await expectSound(namespace, deadAt);
        }
        return isDone;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }

    /** Expects exactly one object of each kind, owned by the workload. */
    async function expectSound({ client }: WorkloadNamespace, deadAt: number): Promise<void> {
      const [generation, ...more] = (await client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items;
      expect(more, `write ${deadAt}`).toEqual([]);
      const uid = generation?.metadata.uid;
      for (const kind of [builtinKinds.deployment, builtinKinds.service, builtinKinds.networkPolicy]) {
        const owned = (await client.list(kind)).items.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid);
        expect(owned, `write ${deadAt}: ${kind.kind}`).toEqual([uid]);
      }
      const maps = await client.list(builtinKinds.configMapMetadata, {
        labelSelector: 'app.kubernetes.io/name=portcullis-bundle',
      });
      expect(maps.items, `write ${deadAt}`).toHaveLength(1);
      expect((await client.list(kinds.policyRevision)).items, `write ${deadAt}`).toHaveLength(1);
      expect((await client.list(kinds.gatewayRoute)).items, `write ${deadAt}`).toHaveLength(1);
    }

    test('after an operator is killed at any of its writes its successor reaches the same final state', async () => {
      let deadAt = 1;
      while (!(await liveTwice(deadAt))) deadAt += 1;
      expect(deadAt).toBeGreaterThan(12);
    });
  },
);
