import type { FigureSize } from '../support/figure.ts';
import type { ScaleFigure } from './figures.ts';
import { startScaleGateway } from './gateway-pod.ts';
import { measureCreation } from './measure-creation.ts';
import { measureEditsInResync, measureSteadyEdits } from './measure-edits.ts';
import { measureColdStarts, measureNewReplica } from './measure-starts.ts';
import { measureSuccession } from './measure-succession.ts';
import { openScaleWorld } from './open-scale-world.ts';
import { settled, startOperator } from './operator-process.ts';

type Plan = {
  readonly bindings: number;
  readonly policies: number;
  readonly coldStarts: number;
  readonly edits: number;
  readonly resyncs: number;
  readonly ends: number;
  readonly crashes: number;
  readonly freezes: number;
};

const plans: Readonly<Record<FigureSize, Plan>> = {
  full: { bindings: 10_000, policies: 100, coldStarts: 3, edits: 300, resyncs: 6, ends: 3, crashes: 3, freezes: 3 },
  small: { bindings: 300, policies: 5, coldStarts: 1, edits: 40, resyncs: 1, ends: 1, crashes: 1, freezes: 0 },
};

/**
 * Bounds of time and memory hold at full size only; a small run verifies that everything is measured and written once.
 */
function judged({ holds, isOfSize }: ScaleFigure, size: FigureSize): 'holds' | 'FAILS' | 'measured' {
  if (isOfSize && size === 'small') return 'measured';
  return holds ? 'holds' : 'FAILS';
}

/** Fills one empty cluster and makes all measurements in it. */
export async function runScale(size: FigureSize, say: (progress: string) => void): Promise<readonly ScaleFigure[]> {
  const plan = plans[size];
  const figures: ScaleFigure[] = [];
  function add(...found: readonly ScaleFigure[]): void {
    figures.push(...found);
    for (const figure of found) say(`${judged(figure, size)} ${figure.what}: ${figure.value}`);
  }
  await using world = await openScaleWorld();
  await using _first = await startScaleGateway(world, 'gateway-0');
  await using _second = await startScaleGateway(world, 'gateway-1');
  let operator = await startOperator(world, 'operator-0');
  try {
    add(...(await measureCreation(world, operator, plan, say)));
    add(await measureNewReplica(world, operator, 'gateway-2'));
    await settled(operator);
    await operator[Symbol.asyncDispose]();
    const [starts, started] = await measureColdStarts(world, plan.coldStarts, say);
    operator = started;
    add(...starts);
    add(...(await measureSteadyEdits(world, plan)));
    const [resync, resynced] = await measureEditsInResync(world, operator, plan, say);
    operator = resynced;
    add(...resync);
    const [succession, last] = await measureSuccession(world, operator, plan, say);
    operator = last;
    add(...succession);
  } finally {
    await operator[Symbol.asyncDispose]();
  }
  return figures;
}
