import type { FlowErrorCode } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import type { FlowSource } from '../definition/flow-schema.ts';
import type { FlowNode, NodeOf } from '../definition/node-schemas.ts';
import type { PortName } from '../engine/ports.ts';
import { promptOutput } from './reference-prompt.ts';
import {
  evaluated,
  fault,
  filledPath,
  hasMembers,
  isTrue,
  type Members,
  matchesSchema,
  members,
  mustBeObject,
  ReferenceFault,
  type Roots,
  scalar,
  textOfTemplate,
} from './reference-values.ts';

/** An answer of a port, or the error with which the call ends. */
export type ReferenceAnswer =
  | { readonly answer: JsonValue }
  | { readonly error: FlowErrorCode; readonly hadNoEffect: boolean };
type AskReference = (port: PortName, request: JsonValue, attempt: number) => ReferenceAnswer;

type End = { readonly path: string; readonly outcome: string; readonly attempts: number };
type Frame = {
  readonly outputs: ReadonlyMap<string, JsonValue>;
  readonly item: JsonValue | undefined;
  readonly prefix: string;
};

/**
 * The expected run of a flow. `ends` are the ends of its nodes, which are not exact if one of several concurrent
 * branches failed.
 */
export type ReferenceRun = {
  readonly result?: JsonValue;
  readonly faults?: ReferenceFault['faults'];
  readonly flowCode?: string | undefined;
  readonly ends: readonly End[];
  readonly isOrdered: boolean;
  readonly isExact: boolean;
};

type ReferenceWorld = {
  readonly context: JsonValue;
  readonly ask: AskReference;
  /** The sources of subflows by their digests. */
  readonly subflows: ReadonlyMap<string, FlowSource>;
};

/**
 * Runs a flow from its source, one node after the other and without the code of the engine: one walk, no concurrency,
 * no time limit, no budget.
 * @param prefix a prefix of the paths of the nodes
 */
export function runReference(flow: FlowSource, input: JsonValue, world: ReferenceWorld, prefix = ''): ReferenceRun {
  const { context, ask, subflows } = world;
  const nodes = new Map(flow.nodes.map((node) => [node.id, node]));
  const ends: End[] = [];
  let state: Members | undefined = flow.state?.initial as Members | undefined;
  let [isOrdered, isExact] = [true, true];
  let flowCode: string | undefined;

  /** Runs nodes from one node to the end of its region. `outputs` receives the outputs of the walk. */
  function walk(first: string, frame: Frame, outputs = new Map(frame.outputs)): JsonValue {
    let last: JsonValue = {};
    for (let id: string | undefined = first; id !== undefined; ) {
      const from: string = id;
      const node = nodes.get(from) as FlowNode;
      try {
        last = runOne(node, { ...frame, outputs });
        outputs.set(from, last);
        const when = node.kind === 'condition' ? String((last as Members)['case']) : undefined;
        id = flow.edges.find((edge) => edge.from === from && edge.when === when)?.to;
      } catch (thrown) {
        const way: unknown = 'onError' in node ? node.onError : 'fail';
        const isEnding = thrown instanceof ReferenceFault && thrown.faults.some(({ code }) => code === 'internal');
        if (!(thrown instanceof ReferenceFault) || isEnding || typeof way !== 'object' || way === null) throw thrown;
        id = (way as { readonly goto: string }).goto;
      }
    }
    return last;
  }

  function runOne(node: FlowNode, frame: Frame): JsonValue {
    const path = `${frame.prefix}${node.id}`;
    const attempts = { count: 0 };
    const ended = (outcome: string): void => void ends.push({ path, outcome, attempts: Math.max(1, attempts.count) });
    try {
      const output = outputOf(node, frame, attempts);
      if ('outputSchema' in node && !matchesSchema(node.outputSchema, output)) throw fault('output_invalid');
      ended('ok');
      return output;
    } catch (thrown) {
      if (!(thrown instanceof ReferenceFault)) throw thrown;
      const faults = thrown.faults.map((one) => ({ ...one, path: one.path ?? path }));
      ended(faults[0]?.code ?? '');
      throw new ReferenceFault(faults);
    }
  }

  const rootsOf = ({ outputs, item }: Frame): Roots => ({ input, context, state, item, outputs });

  function outputOf(node: FlowNode, frame: Frame, attempts: { count: number }): JsonValue {
    const roots = rootsOf(frame);
    switch (node.kind) {
      case 'input': {
        const { fields } = node.config;
        return fields === undefined
          ? input
          : Object.fromEntries(Object.entries(input as Members).filter(([name]) => fields.includes(name)));
      }
      case 'output': {
        const given = members(node.inputs, roots);
        if (given['text'] !== undefined && typeof given['text'] !== 'string') throw fault('type_mismatch');
        if (given['data'] !== undefined) mustBeObject(given['data']);
        return given;
      }
      case 'template':
        return { text: textOfTemplate(node.config.text, roots) };
      case 'transform':
        return members(node.inputs, roots);
      case 'condition':
        return { case: node.config.cases.find(({ when }) => isTrue(when, roots))?.name ?? node.config.default };
      case 'fail':
        flowCode = node.config.code;
        throw fault('flow_failed');
      case 'parallel': {
        attempts.count = 1;
        const inner = { ...frame, prefix: `${frame.prefix}${node.id}/` };
        const outputs = each(node.config.branches, node.config.concurrency, (start) => walk(start, inner));
        return Object.fromEntries(node.config.branches.map((start, at) => [start, outputs[at] as JsonValue]));
      }
      case 'loop':
        attempts.count = 1;
        return loop(node, frame);
      case 'subflow':
        return subflow(node, frame);
      case 'prompt':
        return promptOutput(node, roots, (port, request, read, hasEffect = false) =>
          asked(
            node,
            { port, request, read: (answer) => (hasMembers(answer) ? read(answer) : 'answer_invalid'), hasEffect },
            attempts,
          ),
        );
      default:
        return asked(node, callOf(node, roots), attempts);
    }
  }

  function subflow(node: NodeOf<'subflow'>, frame: Frame): JsonValue {
    const inner = subflows.get(node.config.sha256) as FlowSource;
    const run = runReference(inner, members(node.inputs, rootsOf(frame)), world, `${frame.prefix}${node.id}/`);
    ends.push(...run.ends);
    isOrdered &&= run.isOrdered;
    isExact &&= run.isExact;
    flowCode = run.flowCode ?? flowCode;
    if (run.faults !== undefined) throw new ReferenceFault(run.faults);
    return run.result as JsonValue;
  }

  function loop(node: NodeOf<'loop'>, frame: Frame): JsonValue {
    const { config, inputs } = node;
    const turn = (at: number, item: JsonValue | undefined): JsonValue => {
      const inner = { ...frame, item, prefix: `${frame.prefix}${node.id}[${at}]/` };
      const outputs = new Map(frame.outputs);
      const output = walk(config.body, inner, outputs);
      const assigned = members(config.state ?? {}, rootsOf({ ...inner, outputs }));
      if (Object.keys(assigned).length === 0) return output;
      const next = { ...state, ...assigned };
      if (!matchesSchema(flow.state?.schema, next)) throw fault('state_invalid');
      state = next;
      return output;
    };
    if (config.while === undefined) {
      const items = inputs === undefined ? undefined : evaluated(inputs.items, rootsOf(frame));
      if (!Array.isArray(items)) throw fault('type_mismatch');
      if (items.length > config.maxIterations && config.onLimit === 'fail') throw fault('iterations_exceeded');
      const taken = items.slice(0, config.maxIterations);
      const outputs = each(taken, config.concurrency, (item, at) => turn(at, item));
      return { items: outputs, turns: outputs.length };
    }
    const outputs: JsonValue[] = [];
    while (isTrue(config.while, rootsOf(frame))) {
      if (outputs.length >= config.maxIterations) {
        if (config.onLimit === 'fail') throw fault('iterations_exceeded');
        break;
      }
      outputs.push(turn(outputs.length, frame.item));
    }
    return { items: outputs, turns: outputs.length };
  }

  /**
   * The items run one after another. In a concurrent run, any failed item may end the container, and the other items
   * may be interrupted.
   */
  function each<T>(items: readonly T[], width: number, run: (item: T, at: number) => JsonValue): JsonValue[] {
    if (width > 1 && items.length > 1) isOrdered = false;
    const [outputs, faults] = [[] as JsonValue[], [] as ReferenceFault['faults'][number][]];
    for (const [at, item] of items.entries()) {
      try {
        outputs.push(run(item, at));
      } catch (thrown) {
        if (!(thrown instanceof ReferenceFault)) throw thrown;
        faults.push(...thrown.faults);
        if (width === 1) break;
      }
    }
    if (faults.length === 0) return outputs;
    if (width > 1 && items.length > 1) isExact = false;
    throw new ReferenceFault(faults);
  }

  function asked<Output extends JsonValue>(
    node: FlowNode,
    { port, request, read, hasEffect = port === 'agent' }: Call<Output>,
    attempts: { count: number },
  ): Output {
    const retry = 'retry' in node ? node.retry : undefined;
    for (let attempt = 1; ; attempt += 1) {
      attempts.count += 1;
      const given = ask(port, request, attempt);
      const output = 'error' in given ? given.error : read(given.answer);
      if (typeof output !== 'string') return output as Output;
      const code = output as FlowErrorCode;
      const isAgain = retry !== undefined && attempt < retry.maxAttempts && retry.on.some((one) => one === code);
      const hadEffect = hasEffect && !('error' in given && given.hadNoEffect);
      if (!isAgain || hadEffect) throw fault(code);
    }
  }

  try {
    if (!matchesSchema(flow.input.schema, input)) throw fault('input_invalid');
    const result = walk(flow.entrypoints['main'] ?? '', { outputs: new Map(), item: undefined, prefix }) as Members;
    if (!matchesSchema(flow.output.schema, result['data'] ?? { text: result['text'] ?? '' }))
      throw fault('output_invalid');
    return { result, flowCode, ends, isOrdered, isExact };
  } catch (thrown) {
    if (!(thrown instanceof ReferenceFault)) throw thrown;
    return { faults: thrown.faults, flowCode, ends, isOrdered, isExact };
  }
}

type Call<Output = JsonValue> = {
  readonly port: PortName;
  readonly request: JsonValue;
  /** The output, or the code of an answer that cannot be used. */
  readonly read: (answer: JsonValue) => Output | FlowErrorCode;
  /** Whether an attempt may have an effect, so that it is repeated only if it had none; if absent, the port decides. */
  readonly hasEffect?: boolean;
};

function callOf(node: FlowNode, roots: Roots): Call {
  const bad: FlowErrorCode = 'answer_invalid';
  const call = (port: PortName, request: JsonValue, read: (answer: Members) => JsonValue): Call => ({
    port,
    request,
    read: (answer) => (hasMembers(answer) ? read(answer) : bad),
  });
  const text = (value: JsonValue): string => {
    const found = evaluated(value, roots);
    if (typeof found !== 'string') throw fault('type_mismatch');
    return found;
  };
  switch (node.kind) {
    case 'retrieval': {
      const { collection, topK, rerank, mode, pack } = node.config;
      const more = {
        ...(mode === undefined ? {} : { mode }),
        ...(node.inputs.filters === undefined ? {} : { filters: mustBeObject(evaluated(node.inputs.filters, roots)) }),
        ...(pack === undefined ? {} : { tokenBudget: pack.tokenBudget }),
      };
      const request = { collection, query: text(node.inputs.query), topK, rerank, ...more };
      return call('retrieval', request, ({ items, text: packed }) => {
        if (pack === undefined) return { items: items as JsonValue };
        return packed === undefined ? bad : { items: items as JsonValue, text: packed };
      });
    }
    case 'memory_search':
      return call('memorySearch', { query: text(node.inputs.query), topK: node.config.topK }, pick('items'));
    case 'memory_add':
      return call('memoryAdd', { text: text(node.inputs.text), infer: node.config.infer }, pick('eventId'));
    case 'session_get':
      return call('sessionGet', {}, pick('state'));
    case 'session_put':
      return call('sessionPut', { state: mustBeObject(evaluated(node.inputs.state, roots)) }, () => ({}));
    case 'guardrail': {
      const given = text(node.inputs.text);
      return call('guardrail', { ...node.config, text: given }, ({ decision, text: masked }) => {
        if (decision === 'deny') return 'guardrail_denied';
        if (decision === 'pass') return { decision, text: given };
        return masked === undefined ? bad : { decision: 'mask', text: masked };
      });
    }
    case 'tool_http': {
      const { connection, method, path, responseSchema } = node.config;
      const values = members(node.inputs.path ?? {}, roots);
      const filled = filledPath(path, values);
      const query = Object.entries(members(node.inputs.query ?? {}, roots)).map(([name, one]) => [name, scalar(one)]);
      const body = node.inputs.body === undefined ? {} : { body: evaluated(node.inputs.body, roots) };
      const request = { connection, method, path: filled, query: Object.fromEntries(query), ...body };
      return call('http', request, ({ status, body: answer }) =>
        matchesSchema(responseSchema, answer) ? { status: status as JsonValue, body: answer as JsonValue } : bad,
      );
    }
    case 'tool_mcp': {
      const request = { ...node.config, arguments: mustBeObject(evaluated(node.inputs.arguments, roots)) };
      return call('mcp', request, pick('text', 'data'));
    }
    case 'agent': {
      const given = members(node.inputs, roots);
      if (given['text'] !== undefined && typeof given['text'] !== 'string') throw fault('type_mismatch');
      return call('agent', { agentId: node.config.agentId, ...given }, pick('text', 'data'));
    }
    case 'file': {
      const { use } = node.config;
      const name = use === 'text' ? 'text' : 'providerFileId';
      return call('file', { fileId: text(node.inputs.fileId), use }, (answer) =>
        answer[name] === undefined ? bad : pick(name, 'mediaType')(answer),
      );
    }
    default:
      throw new Error(`the reference has no call for ${node.kind}`);
  }
}

const pick =
  (...names: readonly string[]) =>
  (answer: Members): JsonValue =>
    Object.fromEntries(names.flatMap((name) => (answer[name] === undefined ? [] : [[name, answer[name]]])));
