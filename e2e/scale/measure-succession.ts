import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import { listAll } from '#kube/client/list-all';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RunningProcess } from '../support/start-process.ts';
import type { Write } from './audit-log.ts';
import { startEditing } from './edit-bindings.ts';
import { atMost, type ScaleFigure } from './figures.ts';
import { followApplied } from './follow-applied.ts';
import type { ScaleWorld } from './open-scale-world.ts';
import { settled, startOperator } from './operator-process.ts';

const most = { crashSeconds: 17, orderlySeconds: 2 } as const;
/** A lease lasts 15 s; a leader is suspended for longer than that. */
const frozenMs = { least: 16_000, most: 22_000 } as const;

type SuccessionSize = {
  readonly bindings: number;
  readonly crashes: number;
  readonly ends: number;
  readonly freezes: number;
};

const isWork = ({ resource }: Write): boolean => resource !== 'leases' && !resource.startsWith('events');

/** Operators take over from each other while bindings are edited; compares the writers and the final state. */
export async function measureSuccession(
  world: ScaleWorld,
  leader: RunningProcess,
  size: SuccessionSize,
  say: (progress: string) => void,
): Promise<readonly [readonly ScaleFigure[], RunningProcess]> {
  const seconds = { SIGKILL: [] as number[], SIGTERM: [] as number[] };
  let late = 0;
  let acting = leader;
  let count = 10;
  const successor = () => {
    count += 1;
    return startOperator(world, `operator-${count}`);
  };
  const editsFrom = (round: number) => {
    const numbers = Array.from({ length: 1_000 }, (_none, at) => (round * 37 + at) % size.bindings);
    return startEditing(world, { bindings: numbers, everyMs: 40 });
  };

  async function takeOver(signal: 'SIGKILL' | 'SIGTERM', round: number): Promise<void> {
    const next = await successor();
    await using _edits = await editsFrom(round);
    await pause(500);
    const from = world.auditEnd();
    const at = performance.timeOrigin + performance.now();
    const ended = acting.end(signal);
    const first = await until('the other operator writes', () => firstWriteOf(world, `operator-${count}`, from), {
      deadlineMs: 60_000,
      everyMs: 100,
    });
    await ended;
    seconds[signal].push((first.receivedAt - at) / 1_000);
    say(`${signal}: first write of the new leader after ${seconds[signal].at(-1)?.toFixed(2)} s`);
    acting = next;
  }

  async function freeze(round: number): Promise<void> {
    const frozenName = await nameOfLeader(world);
    const next = await successor();
    await using _edits = await editsFrom(round);
    await pause(Math.random() * 1_000);
    const from = world.auditEnd();
    acting.signal('SIGSTOP');
    const lasted = frozenMs.least + Math.random() * (frozenMs.most - frozenMs.least);
    await pause(lasted);
    await until('the other operator writes', () => firstWriteOf(world, `operator-${count}`, from));
    await pause(Math.random() * 500);
    acting.signal('SIGCONT');
    await pause(3_000);
    const written = lateWrites(await world.operatorWrites(from), frozenName, `operator-${count}`);
    late += written.length;
    say(`frozen for ${(lasted / 1_000).toFixed(1)} s and resumed: ${written.length} late writes`);
    await acting[Symbol.asyncDispose]();
    acting = next;
  }

  let round = 0;
  for (; round < size.ends; round += 1) await takeOver('SIGTERM', round);
  for (; round < size.ends + size.crashes; round += 1) await takeOver('SIGKILL', round);
  for (; round < size.ends + size.crashes + size.freezes; round += 1) await freeze(round);
  const figures = [
    atMost('first write after a crash', Math.max(...seconds.SIGKILL), most.crashSeconds, ' s', 2),
    atMost('first write after an orderly shutdown', Math.max(...seconds.SIGTERM), most.orderlySeconds, ' s', 2),
    atMost('late writes of a frozen leader', late, 0),
    atMost('bindings without the route that their spec asks for', await countStrays(world, acting, size.bindings), 0),
  ];
  return [figures, acting];
}

async function firstWriteOf(world: ScaleWorld, user: string, from: number): Promise<Write | undefined> {
  return (await world.operatorWrites(from)).find((write) => write.user === user && isWork(write));
}

async function nameOfLeader(world: ScaleWorld): Promise<string> {
  const leases = (await world.operatorWrites()).filter(({ resource }) => resource === 'leases');
  return leases.at(-1)?.user ?? '';
}

/** Successful writes of the suspended leader to objects of its successor. */
function lateWrites(writes: readonly Write[], frozen: string, successor: string): readonly Write[] {
  const taken = new Set<string>();
  const late: Write[] = [];
  for (const write of writes.toSorted((one, other) => one.answeredAt - other.answeredAt)) {
    const object = `${write.resource.split('/')[0]} ${write.name}`;
    if (write.user === successor) taken.add(object);
    if (write.user === frozen && taken.has(object)) late.push(write);
  }
  return late;
}

/** Bindings that have no applied state or no matching route in the end. */
async function countStrays(world: ScaleWorld, leader: RunningProcess, bindings: number): Promise<number> {
  await using followed = followApplied(world.client);
  await followed.all(bindings, 120_000);
  await settled(leader);
  const asked = await listAll<ModelBinding>(world.client, kinds.modelBinding);
  const routes = await listAll<GatewayRoute>(world.client, kinds.gatewayRoute);
  const byName = new Map(routes.items.map((route) => [route.metadata.name, route.spec]));
  const strays = asked.items.filter(({ metadata, spec }) => {
    const route = byName.get(metadata.name);
    return route?.upstream.model !== spec.model.upstreamModel || route.token !== (spec.apply ?? '');
  });
  return strays.length + Math.abs(routes.items.length - bindings);
}
