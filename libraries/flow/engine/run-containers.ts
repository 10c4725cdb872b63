import { flowLimits } from '#contracts/flow-limits';
import { withTimeout } from '#kit/concurrency/abort';
import type { JsonValue } from '#kit/json/json-value';
import { holds } from '../expressions/condition.ts';
import { ExpressionFault } from '../expressions/expression-fault.ts';
import { measureValue } from '../expressions/measure-value.ts';
import { evaluateValue } from '../expressions/value.ts';
import type { LoadedNodeOf } from '../loader/loaded-flow.ts';
import { FlowError } from './flow-error.ts';
import { type NodeRun, optionalInput } from './node-run.ts';
import { type FlowExecution, type Frame, innerFrame, scopeOf } from './run-context.ts';
import { runEach } from './run-each.ts';
import type { FlowResult } from './run-events.ts';

/** Runs nodes from one node to the end of its region. @returns the output of the last node */
type Walk = (start: string, frame: Frame, signal: AbortSignal) => Promise<JsonValue>;

/** Runs the body of a container within its time. @throws FlowError timeout */
async function within<T>(
  run: NodeRun,
  timeoutMs: number | undefined,
  body: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  run.attempts.count = 1;
  if (timeoutMs === undefined) return await body(run.signal);
  using deadline = withTimeout(run.signal, timeoutMs);
  try {
    return await body(deadline.signal);
  } catch (error) {
    if (deadline.timedOut()) throw new FlowError('timeout');
    throw error;
  }
}

/** The outputs of all branches by the ids of their first nodes. */
export async function runParallel(run: NodeRun<LoadedNodeOf<'parallel'>>, walk: Walk): Promise<JsonValue> {
  const { config, timeoutMs, id } = run.node.source;
  const walks = Math.min(config.concurrency, config.branches.length);
  return await within(run, timeoutMs, async (outer) => {
    const outputs = await runEach(config.branches, config.concurrency, outer, (start, _, signal) =>
      walk(start, innerFrame(run.frame, { step: id, walks }), signal),
    );
    return Object.fromEntries(config.branches.map((start, index) => [start, outputs[index] ?? null]));
  });
}

/** The outputs of all turns in the order of the items. */
export async function runLoop(run: NodeRun<LoadedNodeOf<'loop'>>, walk: Walk): Promise<JsonValue> {
  const { config, timeoutMs, id } = run.node.source;
  const { execution } = run.frame;
  async function turn(
    index: number,
    item: JsonValue | undefined,
    signal: AbortSignal,
    walks: number,
  ): Promise<JsonValue> {
    const frame = innerFrame(run.frame, { step: `${id}[${index}]`, walks, item });
    const output = await walk(config.body, frame, signal);
    execution.run.budget.spend('nodes', 1);
    assignState(run, frame);
    return output;
  }
  return await within(run, timeoutMs, async (outer) => {
    const [condition] = run.node.conditions;
    if (condition === undefined) {
      const items = optionalInput(run, 'items');
      if (!Array.isArray(items)) throw new FlowError('type_mismatch', { message: 'items must be a list' });
      if (items.length > config.maxIterations && config.onLimit === 'fail') throw new FlowError('iterations_exceeded');
      const first = items.slice(0, config.maxIterations);
      const walks = Math.min(config.concurrency, first.length);
      const outputs = await runEach(first, config.concurrency, outer, (item, index, signal) =>
        turn(index, item, signal, walks),
      );
      return { items: [...outputs], turns: outputs.length };
    }
    const outputs: JsonValue[] = [];
    while (holds(condition, run.scope)) {
      if (outputs.length >= config.maxIterations) {
        if (config.onLimit === 'fail') throw new FlowError('iterations_exceeded');
        break;
      }
      outputs.push(await turn(outputs.length, undefined, outer, 1));
    }
    return { items: outputs, turns: outputs.length };
  });
}

/**
 * Assigns the state once, from values that were all read before the assignment.
 * @throws FlowError state_invalid, ExpressionFault
 */
function assignState({ node }: NodeRun<LoadedNodeOf<'loop'>>, frame: Frame): void {
  if (node.state.size === 0) return;
  const { execution } = frame;
  const next = nextState(node, frame);
  if ((execution.flow.checkState?.(next) ?? []).length > 0) throw new FlowError('state_invalid');
  execution.state = next;
}

function nextState({ state }: LoadedNodeOf<'loop'>, frame: Frame): { readonly [name: string]: JsonValue } {
  const scope = scopeOf(frame);
  try {
    const assigned = [...state].map(([name, value]) => [name, evaluateValue(value, scope)] as const);
    const next = { ...frame.execution.state, ...Object.fromEntries(assigned) };
    measureValue(next, flowLimits.builtBytes);
    return next;
  } catch (error) {
    if (!(error instanceof ExpressionFault) || error.code !== 'output_invalid') throw error;
    throw new FlowError('state_invalid', { message: error.message });
  }
}

type RunFlow = (
  execution: FlowExecution,
  entrypoint: string,
  prefix: string,
  signal: AbortSignal,
) => Promise<FlowResult>;

/** The result of a pinned flow, which uses the run, the budget and the trace of the calling flow. */
export async function runSubflow(run: NodeRun<LoadedNodeOf<'subflow'>>, execute: RunFlow): Promise<JsonValue> {
  const { source, subflow, inputs } = run.node;
  if (subflow === undefined) throw new FlowError('internal');
  const input = Object.fromEntries([...inputs].map(([name, value]) => [name, evaluateValue(value, run.scope)]));
  measureValue(input, flowLimits.builtBytes);
  const execution = openExecution(run.frame.execution.run, subflow, input, run.frame.width);
  const prefix = `${run.frame.prefix}${source.id}/`;
  const { text, data } = await within(run, source.timeoutMs, (signal) =>
    execute(execution, source.config.entrypoint, prefix, signal),
  );
  return { ...(text === undefined ? {} : { text }), ...(data === undefined ? {} : { data }) };
}

export function openExecution(
  run: FlowExecution['run'],
  flow: FlowExecution['flow'],
  input: JsonValue,
  width: number,
): FlowExecution {
  return { run, flow, input, width, state: flow.source.state?.initial };
}
