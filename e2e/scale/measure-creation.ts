import { listAll } from '#kube/client/list-all';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { RunningProcess } from '../support/start-process.ts';
import { until } from '../support/until.ts';
import type { Write } from './audit-log.ts';
import { atLeast, atMost, published, type ScaleFigure } from './figures.ts';
import { followApplied } from './follow-applied.ts';
import { makeBindings, makePolicies } from './make-objects.ts';
import type { ScaleWorld } from './open-scale-world.ts';
import { settled } from './operator-process.ts';
import { cpuSecondsOf, liveBytesOf } from './process-costs.ts';

const least = { perSecond: 60 } as const;
const most = { metadata: 1, routes: 1, statuses: 2, heapBytes: 4_096 } as const;

type ScaleSize = { readonly bindings: number; readonly policies: number };

/** Creates all bindings at once and waits until each is applied. */
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
  await settled(operator);
  const liveBefore = await liveBytesOf(operator);
  const cpuBefore = cpuSecondsOf(operator.pid);
  const from = world.auditEnd();
  const begun = performance.now();
  await using followed = followApplied(client);
  const telling = setInterval(() => say(`${followed.applied()} of ${size.bindings} applied`), 15_000);
  await Promise.all([makeBindings(client, size.bindings, size.policies), followed.all(size.bindings, 900_000)]).finally(
    () => clearInterval(telling),
  );
  const seconds = (performance.now() - begun) / 1_000;
  const cpu = cpuSecondsOf(operator.pid) - cpuBefore;
  await settled(operator);
  const resources = 2 * size.bindings;
  const heap = ((await liveBytesOf(operator)) - liveBefore) / resources;
  return [
    atLeast('bindings from create to Applied a second', size.bindings / seconds, least.perSecond, '/s', 1),
    published('operator CPU for each', `${((cpu / size.bindings) * 1_000).toFixed(2)} ms`),
    ...countWrites(await world.operatorWrites(from)),
    atMost('bytes alive for each binding and each route', heap, most.heapBytes, ' B'),
  ];
}

/** The largest number of writes of each kind for one binding. */
function countWrites(writes: readonly Write[]): readonly ScaleFigure[] {
  const mostOf = (resource: string): number => {
    const counts = new Map<string, number>();
    for (const write of writes) {
      if (write.resource === resource) counts.set(write.name, (counts.get(write.name) ?? 0) + 1);
    }
    return Math.max(0, ...counts.values());
  };
  return [
    atMost('metadata writes of a binding', mostOf('modelbindings'), most.metadata),
    atMost('route writes of a binding', mostOf('gatewayroutes'), most.routes),
    atMost('status writes of a binding', mostOf('modelbindings/status'), most.statuses),
  ];
}
