import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import type { RunningProcess } from '../support/start-process.ts';
import { churn, startEditing, type TimedEdit } from './edit-bindings.ts';
import { atMost, percentile, published, type ScaleFigure } from './figures.ts';
import type { ScaleWorld } from './open-scale-world.ts';
import { leads, looked, startOperator } from './operator-process.ts';

const most = { steadyMs: 50, resyncMs: 250 } as const;
const churnPerSecond = 100;

type EditsSize = { readonly bindings: number; readonly edits: number; readonly resyncs: number };

function figureOf(what: string, edits: readonly TimedEdit[], bound: number): readonly ScaleFigure[] {
  const delays = (some: readonly TimedEdit[], since: 'seenAt' | 'answeredAt'): readonly number[] =>
    some.map((edit) => Math.max(0, edit.writtenAt - edit[since]));
  const line = (some: readonly TimedEdit[], since: 'seenAt' | 'answeredAt' = 'seenAt'): string => {
    const all = delays(some, since);
    return `p50 ${percentile(all, 0.5).toFixed(0)} ms, p99 ${percentile(all, 0.99).toFixed(0)} ms`;
  };
  return [
    atMost(`p99 of ${edits.length} ${what}`, percentile(delays(edits, 'seenAt'), 0.99), bound, ' ms'),
    published(
      'of these',
      `edits ${line(edits.filter(({ sort }) => sort === 'edit'))}; ` +
        `applications ${line(edits.filter(({ sort }) => sort === 'application'))}; ` +
        `all since the answer to the edit ${line(edits, 'answeredAt')}`,
    ),
  ];
}

/** Edits bindings one after another while other objects change steadily. */
export async function measureSteadyEdits(world: ScaleWorld, size: EditsSize): Promise<readonly ScaleFigure[]> {
  const from = world.auditEnd();
  const half = Math.floor(size.bindings / 2);
  const numbers = Array.from({ length: half }, (_none, at) => at);
  await using _churn = churn(
    world,
    numbers.map((at) => half + at),
    churnPerSecond,
  );
  await pause(2_000);
  await using editor = await startEditing(world, { bindings: numbers.slice(0, size.edits), everyMs: 150 });
  await until('everything is edited', () => editor.edits.length >= size.edits);
  const timed = await until(
    'every edit is followed by a write',
    async () => {
      const found = editor.timed(await world.operatorWrites(from));
      return found.length >= size.edits ? found : undefined;
    },
    { everyMs: 1_000 },
  );
  return figureOf(`edits, watch line to first write, ${churnPerSecond} other changes a second`, timed, most.steadyMs);
}

/** A standby takes over from a leader that exits and reconciles every object; meanwhile bindings are edited. */
export async function measureEditsInResync(
  world: ScaleWorld,
  leader: RunningProcess,
  size: EditsSize,
  say: (progress: string) => void,
): Promise<readonly [readonly ScaleFigure[], RunningProcess]> {
  const timed: TimedEdit[] = [];
  let acting = leader;
  for (let round = 0; round < size.resyncs; round += 1) {
    const from = world.auditEnd();
    const next = await startOperator(world, `operator-${1 + (round % 2)}`);
    const numbers = Array.from({ length: 200 }, (_none, at) => (round * 200 + at) % size.bindings);
    await using editor = await startEditing(world, { bindings: numbers, everyMs: 40 });
    await pause(200);
    const ending = acting.end('SIGTERM');
    await until('the standby leads', () => leads(next), { everyMs: 2 });
    const begunAt = performance.timeOrigin + performance.now();
    await looked(next, size.bindings);
    const endedAt = performance.timeOrigin + performance.now();
    await ending;
    await pause(500);
    const during = editor
      .timed(await world.operatorWrites(from))
      .filter(({ seenAt }) => seenAt >= begunAt && seenAt <= endedAt);
    say(`a full resync took ${((endedAt - begunAt) / 1_000).toFixed(1)} s, ${during.length} edits meanwhile`);
    timed.push(...during);
    acting = next;
  }
  return [figureOf('edits during a full resync, watch line to first write', timed, most.resyncMs), acting];
}
