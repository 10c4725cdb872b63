import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RunningProcess } from '../support/start-process.ts';
import type { Write } from './audit-log.ts';
import { atLeast, atMost, published, type ScaleFigure } from './figures.ts';
import { followApplied } from './follow-applied.ts';
import { bindingName, makeFirstBinding, makeOtherBindings, makePolicies } from './make-objects.ts';
import type { ScaleWorld } from './open-scale-world.ts';
import { settled } from './operator-process.ts';
import { cpuSecondsOf, liveBytesOf } from './process-costs.ts';

const least = { perSecond: 60 } as const;
const most = { metadata: 1, routes: 1, statuses: 2, heapBytes: 4_096 } as const;

type ScaleSize = { readonly bindings: number; readonly policies: number };

/** The first binding of a provider also reports when the gateway has reached the provider. */
const mostOfFirst = most.statuses + 1;

/**
 * Creates one binding and waits until the state of the provider is known, as on a platform that serves models; then
 * creates all other bindings at once and waits until each is applied.
 */
export async function measureCreation(
  world: ScaleWorld,
  operator: RunningProcess,
  size: ScaleSize,
  say: (progress: string) => void,
): Promise<readonly ScaleFigure[]> {
  const { client } = world;
  await makePolicies(client, size.policies);
  const recorded = async (): Promise<boolean> => {
    const { items } = await listAll<GuardrailPolicy>(client, kinds.guardrailPolicy);
    return items.filter(({ status }) => status?.latestRevision !== undefined).length === size.policies;
  };
  await until('all policies are recorded', recorded, { everyMs: 250 });
  const beforeFirst = world.auditEnd();
  await makeFirstBinding(client, size.policies);
  await until('the provider of the first binding is reached', () => isProviderReached(client));
  await settled(operator);
  const first = await world.operatorWrites(beforeFirst);
  const liveBefore = await liveBytesOf(operator);
  const cpuBefore = cpuSecondsOf(operator.pid);
  const from = world.auditEnd();
  const begun = performance.now();
  await using followed = followApplied(client);
  const telling = setInterval(() => say(`${followed.applied()} of ${size.bindings} applied`), 15_000);
  await Promise.all([
    makeOtherBindings(client, size.bindings, size.policies),
    followed.all(size.bindings, 900_000),
  ]).finally(() => clearInterval(telling));
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = cpuSecondsOf(operator.pid) - cpuBefore;
  await settled(operator);
  const created = size.bindings - 1;
  const heap = ((await liveBytesOf(operator)) - liveBefore) / (2 * created);
  return [
    atLeast('bindings from create to Applied a second', created / seconds, least.perSecond, '/s', 1),
    published('operator CPU for each', `${((cpu / created) * 1_000).toFixed(2)} ms`),
    ...countWrites(await world.operatorWrites(from)),
    atMost('status writes of the first binding of a provider', mostWrites(first, statuses), mostOfFirst),
    atMost('bytes alive for each binding and each route', heap, most.heapBytes, ' B'),
  ];
}

async function isProviderReached(client: KubeClient): Promise<boolean> {
  const binding = await client.get<ModelBinding>(kinds.modelBinding, bindingName(0));
  const conditions = binding?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'ProviderReachable' && status === 'True');
}

const statuses = 'modelbindings/status';

function countWrites(writes: readonly Write[]): readonly ScaleFigure[] {
  return [
    atMost('metadata writes of a binding', mostWrites(writes, 'modelbindings'), most.metadata),
    atMost('route writes of a binding', mostWrites(writes, 'gatewayroutes'), most.routes),
    atMost('status writes of a binding', mostWrites(writes, statuses), most.statuses),
  ];
}

/** The largest number of writes of one kind of resource for one binding. */
function mostWrites(writes: readonly Write[], resource: string): number {
  const counts = new Map<string, number>();
  for (const write of writes) {
    if (write.resource === resource) counts.set(write.name, (counts.get(write.name) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
