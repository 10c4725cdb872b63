import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import type { PromptTool } from '../definition/node-schemas.ts';
import { renderTemplate } from '../expressions/template.ts';
import { namesOf } from '../loader/compile-node.ts';
import type { LoadedNodeOf } from '../loader/loaded-flow.ts';
import { callPort } from './call-port.ts';
import { encodePath, queryTexts } from './encode-path.ts';
import { asFlowError, endsRun, FlowError } from './flow-error.ts';
import { type NodeRun, type ObjectValue, pathOf } from './node-run.ts';
import type { ModelMessage, PortName, PortRequests, ReadAnswer } from './ports.ts';
import { widthOf } from './run-context.ts';
import { runEach } from './run-each.ts';

type PromptRun = NodeRun<LoadedNodeOf<'prompt'>>;
/** `width`: how many walks and calls of tools may be under way at the same time. */
type ToolFacts = { readonly width: number; readonly signal: AbortSignal };
type ToolCall = ReadAnswer<'model'>['toolCalls'][number];
type Answer = ReadAnswer<'model'> & { readonly data?: JsonValue };

/** Calls the model until it answers without tools. @throws FlowError, ExpressionFault */
export async function runPrompt(run: PromptRun): Promise<JsonValue> {
  const { config } = run.node.source;
  const tools = config.tools ?? [];
  const maxTurns = config.maxTurns ?? (tools.length === 0 ? 1 : flowLimits.turns.default);
  const messages: ModelMessage[] = config.messages.map(({ role }, index) => ({
    role,
    content: renderTemplate(run.node.texts[index] ?? [], run.scope),
  }));
  const usage = { promptTokens: 0, completionTokens: 0 };
  for (let turn = 1; turn <= maxTurns; turn += 1) {
    const answer = await askModel(run, messages);
    usage.promptTokens += answer.usage?.promptTokens ?? 0;
    usage.completionTokens += answer.usage?.completionTokens ?? 0;
    if (answer.toolCalls.length === 0) {
      const { text, finishReason, data } = answer;
      return { text, finishReason, usage, turns: turn, ...(data === undefined ? {} : { data }) };
    }
    if (turn === maxTurns) break;
    messages.push({ role: 'assistant', content: answer.text, toolCalls: answer.toolCalls });
    const width = widthOf(run.frame.width, answer.toolCalls.length);
    const results = await runEach(answer.toolCalls, flowLimits.width.max, run.signal, (call, _, signal) =>
      useTool(run, call, { width, signal }),
    );
    messages.push(...results);
  }
  throw new FlowError('turns_exceeded');
}

async function askModel(run: PromptRun, messages: readonly ModelMessage[]): Promise<Answer> {
  const { source, tools } = run.node;
  const { run: context } = run.frame.execution;
  const { model, parameters, responseSchema, stream, tools: declared = [] } = source.config;
  let streamedBytes = 0;
  const place = { node: source.id, path: pathOf(run) };
  const onText = (text: string): void => {
    streamedBytes += Buffer.byteLength(text);
    if (text === '' || streamedBytes > flowLimits.outputBytes) return;
    context.events.add({ type: 'text', ...place, text });
  };
  const isStreamed = stream && context.textOf?.has(place.path) !== false;
  const asked = {
    messages,
    tools: declared.map(({ name, description }) => ({
      name,
      description,
      parameters: tools.get(name)?.parameters ?? {},
    })),
    ...(responseSchema === undefined ? {} : { responseSchema }),
  };
  const text = textTokens(asked);
  const request = { model, ...asked, parameters, ...(isStreamed ? { onText } : {}) };
  return await callPort({
    run: context,
    node: source,
    caller: source.id,
    path: place.path,
    width: run.frame.width,
    port: 'model',
    request,
    tokens: {
      need: { text, answer: parameters.maxTokens, among: run.frame.width },
      requestWith: (left) => ({
        ...request,
        parameters: { ...parameters, maxTokens: mostTokens(parameters.maxTokens, left) },
      }),
      usedBy: (answer) => usedTokens(answer) ?? text + textTokens(answer),
    },
    signal: run.signal,
    attempts: run.attempts,
    isFinal: () => streamedBytes > 0,
    read: (answer) => {
      if (answer.toolCalls.length > flowLimits.tools) throw new FlowError('answer_invalid');
      return answer.toolCalls.length > 0 || responseSchema === undefined
        ? answer
        : { ...answer, data: dataOf(run, answer.text) };
    },
  });
}

/** The tokens that the model reported; undefined if it reported none. */
function usedTokens({ usage }: ReadAnswer<'model'>): number | undefined {
  return usage === undefined ? undefined : usage.promptTokens + usage.completionTokens;
}

/**
 * Maximum number of tokens of a text: each token has at least one byte, and the names of members make up for the tokens
 * that a model adds.
 */
function textTokens(asked: object): number {
  return Buffer.byteLength(JSON.stringify(asked));
}

/**
 * If the remaining budget is at most this number of tokens, it is sent as the limit of an answer. Models accept a limit
 * of this size.
 */
const smallRest = 4_096;

/**
 * The limit of tokens that the model gets for its answer. Models refuse a limit above their own limit, so that a large
 * remaining budget is not sent: without a limit of the author, the model applies its own limit.
 */
function mostTokens(limit: number | undefined, left: number): number | undefined {
  if (limit !== undefined) return Math.min(limit, left);
  return left > smallRest ? undefined : left;
}

/** @throws FlowError answer_invalid for a text that is not JSON of the schema */
function dataOf({ node }: PromptRun, text: string): JsonValue {
  try {
    const data = parseStrict(Buffer.from(text), { maxDepth: flowLimits.outputDepth });
    if ((node.checkResponse?.(data) ?? []).length === 0) return data;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new FlowError('answer_invalid');
}

/**
 * The message to the model about a call of a tool. An error is sent as its code, so that the model can choose again.
 */
async function useTool(run: PromptRun, call: ToolCall, { width, signal }: ToolFacts): Promise<ModelMessage> {
  const tool = run.node.source.config.tools?.find(({ name }) => name === call.name);
  const check = run.node.tools.get(call.name)?.check;
  const told = (value: JsonValue): ModelMessage => ({
    role: 'tool',
    toolCallId: call.id,
    content: JSON.stringify(value),
  });
  if (tool === undefined || check === undefined) return told({ error: 'tool_unknown' });
  if (check(call.arguments).length > 0) return told({ error: 'arguments_invalid' });
  run.frame.execution.run.budget.spend('nodes', 1);
  try {
    return told(await callTool(run, tool, call.arguments as ObjectValue, { width, signal }));
  } catch (thrown) {
    const error = signal.aborted ? asFlowError(signal.reason) : asFlowError(thrown);
    if (signal.aborted || endsRun(error)) throw error;
    return told({ error: error.code });
  }
}

/** Methods whose repetition has the same effect as one call (RFC 9110, 9.2.2). */
const idempotent: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

async function callTool(
  run: PromptRun,
  tool: PromptTool,
  given: ObjectValue,
  { width, signal }: ToolFacts,
): Promise<JsonValue> {
  const ask = <Name extends PortName>(
    port: Name,
    request: PortRequests[Name],
    read: (answer: ReadAnswer<Name>) => JsonValue,
    // The retry of a prompt applies to its model: its author does not choose the tools that the model calls.
    hasEffect = port !== 'retrieval',
  ) =>
    callPort({
      run: run.frame.execution.run,
      node: run.node.source,
      caller: `${run.node.source.id}.${tool.name}`,
      path: pathOf(run),
      width,
      port,
      request,
      signal,
      attempts: run.attempts,
      hasEffect,
      read,
    });
  const found = ({ text, data }: { readonly text?: string | undefined; readonly data?: JsonValue | undefined }) =>
    data ?? text ?? null;
  if ('mcp' in tool) return await ask('mcp', { ...tool.mcp, arguments: given }, found);
  if ('agent' in tool) return await ask('agent', { ...tool.agent, text: String(given['message']) }, found);
  if ('retrieval' in tool) {
    const request = { ...tool.retrieval, rerank: false, query: String(given['query']) };
    return await ask('retrieval', request, ({ items }) => items);
  }
  const { connection, method, path } = tool.http;
  const names = namesOf(path);
  const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const request = { connection, method, path: encodePath(path, given), query: hasBody ? {} : queryTexts(rest) };
  return await ask(
    'http',
    hasBody ? { ...request, body: rest } : request,
    ({ status, body }) => ({ status, body }),
    !idempotent.has(method),
  );
}
