import { until } from '#kit/testing/until';
import type { GatewayReport } from '#resources/gateway-report';
import { kinds } from '#resources/kinds';
import type { RunningProcess } from '../support/start-process.ts';
import { atMost, published, type ScaleFigure } from './figures.ts';
import { startScaleGateway } from './gateway-pod.ts';
import type { ScaleWorld } from './open-scale-world.ts';
import { settled, startOperator } from './operator-process.ts';
import { cpuSecondsOf, liveBytesOf, peakMiBOf } from './process-costs.ts';

const most = { seconds: 3, residentMiB: 350 } as const;

/**
 * Starts another gateway replica, which loads every route, and stops it; the status of applied bindings must not
 * change.
 */
export async function measureNewReplica(
  world: ScaleWorld,
  operator: RunningProcess,
  replica: string,
): Promise<ScaleFigure> {
  const from = world.auditEnd();
  const report = () => world.client.get<GatewayReport>(kinds.gatewayReport, replica);
  const gateway = await startScaleGateway(world, replica);
  const ready = async () => (await report())?.spec.ready === true;
  await until('the new replica is ready', ready);
  await settled(operator);
  const writes = await world.operatorWrites(from);
  const statuses = writes.filter(({ resource }) => resource === 'modelbindings/status').length;
  await gateway[Symbol.asyncDispose]();
  await until('the report of the stopped replica is deleted', async () => (await report()) === undefined);
  return atMost('status writes after a new gateway replica', statuses, 0);
}

/** Starts operators one after another; each must reconcile every object and write nothing. */
export async function measureColdStarts(
  world: ScaleWorld,
  rounds: number,
  say: (progress: string) => void,
): Promise<readonly [readonly ScaleFigure[], RunningProcess]> {
  const seconds: number[] = [];
  const resident: number[] = [];
  const writes: number[] = [];
  let live = 0;
  for (let round = 0; ; round += 1) {
    const from = world.auditEnd();
    const begun = performance.now();
    const operator = await startOperator(world, 'operator-0');
    seconds.push((performance.now() - begun) / 1_000);
    resident.push(peakMiBOf(operator.pid));
    await settled(operator);
    writes.push((await world.operatorWrites(from)).filter(({ resource }) => resource !== 'leases').length);
    say(
      `synced after ${seconds.at(-1)?.toFixed(2)} s with ${resident.at(-1)?.toFixed(0)} MiB, full resync with ` +
        `${cpuSecondsOf(operator.pid).toFixed(1)} s of CPU and ${peakMiBOf(operator.pid).toFixed(0)} MiB, ${writes.at(-1)} writes`,
    );
    if (round + 1 < rounds) {
      await operator[Symbol.asyncDispose]();
      continue;
    }
    live = (await liveBytesOf(operator)) / 1_048_576;
    return [
      [
        atMost('cold start until synced', Math.max(...seconds), most.seconds, ' s', 2),
        atMost('resident until synced', Math.max(...resident), most.residentMiB, ' MiB'),
        atMost('writes of a full resync', Math.max(...writes), 0),
        published('alive in an operator at rest', `${live.toFixed(0)} MiB`),
      ],
      operator,
    ];
  }
}
