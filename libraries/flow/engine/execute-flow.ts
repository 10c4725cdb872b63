import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import { holds } from '../expressions/condition.ts';
import { measureValue } from '../expressions/measure-value.ts';
import { renderTemplate } from '../expressions/template.ts';
import { evaluateValue } from '../expressions/value.ts';
import type { LoadedNode } from '../loader/loaded-flow.ts';
import { asFlowError, endsRun, FlowError } from './flow-error.ts';
import { hasKind, type NodeRun, openNodeRun, optionalInput, pathOf, requireObject } from './node-run.ts';
import { type CallingSource, runCallingNode } from './run-calling-node.ts';
import { runLoop, runParallel, runSubflow } from './run-containers.ts';
import type { FlowExecution, Frame } from './run-context.ts';
import type { FlowResult } from './run-events.ts';
import { runPrompt } from './run-prompt.ts';

/** Runs one flow from an entry point to its result. @throws FlowError */
export async function executeFlow(
  execution: FlowExecution,
  entrypoint: string,
  prefix: string,
  signal: AbortSignal,
): Promise<FlowResult> {
  const { flow, input, width } = execution;
  const start = Object.hasOwn(flow.source.entrypoints, entrypoint) ? flow.source.entrypoints[entrypoint] : undefined;
  if (start === undefined) throw new FlowError('entrypoint_unknown');
  if (flow.checkInput(input).length > 0) throw new FlowError('input_invalid');
  const frame: Frame = { execution, around: undefined, outputs: new Map(), item: undefined, width, prefix };
  const last = (await walk(start, frame, signal)) as FlowResult;
  const { text, data } = last;
  if (flow.checkResult(data ?? { text: text ?? '' }).length > 0) throw new FlowError('output_invalid');
  return last;
}

/** Runs nodes one after another, and follows the edge that each node selects. */
async function walk(start: string, frame: Frame, signal: AbortSignal): Promise<JsonValue> {
  const { flow } = frame.execution;
  let last: JsonValue = {};
  for (let id: string | undefined = start; id !== undefined; ) {
    const node: LoadedNode | undefined = flow.nodes.get(id);
    if (node === undefined) throw new FlowError('internal');
    try {
      last = await runNode(node, frame, signal);
      frame.outputs.set(id, last);
      id = node.source.kind === 'condition' ? node.cases.get(caseOf(last)) : node.next;
    } catch (thrown) {
      const error = asFlowError(thrown);
      if (signal.aborted || endsRun(error) || node.onError === undefined) throw error;
      id = node.onError;
    }
  }
  return last;
}

function caseOf(output: JsonValue): string {
  return (output as { readonly case: string }).case;
}

/** Runs one node between its two events. @throws FlowError */
async function runNode(node: LoadedNode, frame: Frame, signal: AbortSignal): Promise<JsonValue> {
  const { budget, events, clock, pace } = frame.execution.run;
  const { id, kind } = node.source;
  await pace();
  if (signal.aborted) throw asFlowError(signal.reason);
  budget.spend('nodes', 1);
  const place = { node: id, kind, path: pathOf({ node, frame }) };
  const run = openNodeRun(node, frame, signal);
  const startedAt = clock.now();
  events.add({ type: 'nodeStarted', ...place });
  const ended = (outcome: 'ok' | FlowError['code']): void => {
    const attempts = Math.max(1, run.attempts.count);
    events.add({ type: 'nodeEnded', ...place, outcome, attempts, durationMs: clock.now() - startedAt });
  };
  try {
    const output = await outputOf(run);
    budget.spend('outputBytes', measureValue(output, flowLimits.outputBytes));
    if ((node.checkOutput?.(output) ?? []).length > 0) throw new FlowError('output_invalid');
    ended('ok');
    return output;
  } catch (thrown) {
    const error = signal.aborted ? asFlowError(signal.reason) : asFlowError(thrown);
    ended(error.code);
    error.place ??= place.path;
    throw error;
  }
}

async function outputOf(run: NodeRun): Promise<JsonValue> {
  const { source } = run.node;
  switch (source.kind) {
    case 'input':
      return inputOf(run, source.config.fields);
    case 'output':
      return resultOf(run);
    case 'template':
      return { text: renderTemplate(run.node.texts[0] ?? [], run.scope) };
    case 'transform':
      return Object.fromEntries([...run.node.inputs].map(([name, value]) => [name, evaluateValue(value, run.scope)]));
    case 'condition': {
      const at = run.node.conditions.findIndex((condition) => holds(condition, run.scope));
      return { case: source.config.cases[at]?.name ?? source.config.default };
    }
    case 'fail':
      throw new FlowError('flow_failed', { flowCode: source.config.code, message: source.config.message });
    case 'prompt':
      return hasKind(run, 'prompt') ? await runPrompt(run) : null;
    case 'parallel':
      return hasKind(run, 'parallel') ? await runParallel(run, walk) : null;
    case 'loop':
      return hasKind(run, 'loop') ? await runLoop(run, walk) : null;
    case 'subflow':
      return hasKind(run, 'subflow') ? await runSubflow(run, executeFlow) : null;
    case 'retrieval':
    case 'memory_search':
    case 'memory_add':
    case 'session_get':
    case 'session_put':
    case 'guardrail':
    case 'tool_http':
    case 'tool_mcp':
    case 'agent':
    case 'file':
      return await runCallingNode(run, source satisfies CallingSource);
  }
}

function inputOf(run: NodeRun, fields: readonly string[] | undefined): JsonValue {
  const { input } = run.frame.execution;
  if (fields === undefined) return input;
  const given = input as { readonly [name: string]: JsonValue };
  return Object.fromEntries(
    fields.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name] ?? null]),
  );
}

function resultOf(run: NodeRun): JsonValue {
  // Both values are read before the type of either value is checked, as in nodes that make calls.
  const [text, data] = [optionalInput(run, 'text'), optionalInput(run, 'data')];
  if (text !== undefined && typeof text !== 'string')
    throw new FlowError('type_mismatch', { message: 'text must be a text' });
  return {
    ...(text === undefined ? {} : { text }),
    ...(data === undefined ? {} : { data: requireObject(data, 'data') }),
  };
}
