import { setImmediate } from 'node:timers/promises';
import { flowLimits } from '#contracts/flow-limits';
import type { Semaphore } from '#kit/concurrency/semaphore';
import type { TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import type { Clock } from '#kit/time/clock';
import type { Scope } from '../expressions/reference.ts';
import type { LoadedFlow } from '../loader/loaded-flow.ts';
import type { BudgetMeter } from './budget.ts';
import type { FlowPorts } from './ports.ts';
import type { EventQueue } from './run-events.ts';

/** Number of nodes after which a run yields to the event loop. */
const paceEvery = 64;

export function createPace(): RunContext['pace'] {
  let count = 0;
  return () => {
    count += 1;
    return count % paceEvery === 0 ? setImmediate() : undefined;
  };
}

/** State that a run shares with its subflows. */
export type RunContext = {
  readonly ports: FlowPorts;
  readonly runId: string;
  readonly traceId: string;
  /** The span of the run. */
  readonly trace: TraceContext;
  readonly context: Readonly<Record<string, JsonValue>>;
  /** Paths of the prompts that stream their text; undefined for all of them. */
  readonly textOf: ReadonlySet<string> | undefined;
  readonly budget: BudgetMeter;
  /** Slots for concurrent calls of ports. */
  readonly slots: Semaphore;
  readonly events: EventQueue;
  readonly clock: Clock;
  readonly random: () => number;
  /** Waits between two attempts; ends early when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Yields to timers, aborts and other runs from time to time; called before each node. */
  readonly pace: () => Promise<void> | undefined;
};

/** One execution of one flow: of the flow of the run, or of a subflow. */
export type FlowExecution = {
  readonly run: RunContext;
  readonly flow: LoadedFlow;
  readonly input: JsonValue;
  /** How many walks of the run may be in progress while this flow runs, including its own. */
  readonly width: number;
  /** The state of the loop, which is replaced as a whole at the end of a turn. */
  state: { readonly [name: string]: JsonValue } | undefined;
};

/** Outputs of one walk through a region, and the enclosing walk. */
export type Frame = {
  readonly execution: FlowExecution;
  readonly around: Frame | undefined;
  readonly outputs: Map<string, JsonValue>;
  readonly item: JsonValue | undefined;
  /** How many walks of the run may be in progress together with this walk, at most the number of concurrent calls. */
  readonly width: number;
  /** Prefix of the paths of the nodes that run now: the branch or the turn of each enclosing node. */
  readonly prefix: string;
};

/**
 * A nested walk; without a separate item it uses the item of the enclosing walk.
 * @param walks how many walks of its container may be in progress at the same time
 */
export function innerFrame(
  around: Frame,
  {
    step,
    walks,
    item = around.item,
  }: { readonly step: string; readonly walks: number; readonly item?: JsonValue | undefined },
): Frame {
  const { execution } = around;
  const width = widthOf(around.width, walks);
  return { execution, around, outputs: new Map(), item, width, prefix: `${around.prefix}${step}/` };
}

/** How many walks may be in progress if `walks` walks begin in each of `around` walks. */
export function widthOf(around: number, walks: number): number {
  return Math.min(flowLimits.width.max, around * Math.max(1, walks));
}

/** The values that expressions can read inside of one flow, branch or turn. */
export function scopeOf(frame: Frame): Scope {
  const { execution } = frame;
  return {
    input: execution.input,
    context: execution.run.context,
    state: () => execution.state,
    item: () => frame.item,
    output: (node) => {
      for (let at: Frame | undefined = frame; at !== undefined; at = at.around) {
        const output = at.outputs.get(node);
        if (output !== undefined) return output;
      }
      return undefined;
    },
  };
}
