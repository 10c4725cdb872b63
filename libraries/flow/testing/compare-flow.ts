import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import type { JsonValue } from '#kit/json/json-value';
import type { FlowSource } from '../definition/flow-schema.ts';
import { PortError, portErrorCodes } from '../engine/flow-error.ts';
import type { FlowPorts, PortName } from '../engine/ports.ts';
import type { RunEvent } from '../engine/run-events.ts';
import { runFlow } from '../engine/run-flow.ts';
import { loadFlow } from '../loader/load-flow.ts';
import { type RandomSubflow, randomFlow, randomInput } from './random-flow.ts';
import { type ReferenceAnswer, type ReferenceRun, runReference } from './reference-flow.ts';
import { scriptedPorts } from './scripted-ports.ts';

const context = { userId: 'ann', level: 3 };
const ports: readonly PortName[] = [
  'model',
  'retrieval',
  'memorySearch',
  'memoryAdd',
  'sessionGet',
  'sessionPut',
  'guardrail',
  'http',
  'mcp',
  'agent',
  'file',
];

/** A text that is equal for requests that are equal as JSON. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );
}

type GivenTool = { readonly name: string; readonly parameters: { readonly required: readonly string[] } };

/** Calls of tools of a request, some with another name or with arguments that its schema refuses. */
function toolCallsOf(request: unknown, bytes: Buffer, word: string): JsonValue[] {
  const { tools } = request as { readonly tools: readonly GivenTool[] };
  const at = (place: number): number => bytes[place] ?? 0;
  if (tools.length === 0 || at(3) < 110) return [];
  return Array.from({ length: 1 + (at(4) % 3) }, (_, call) => {
    const pick = at(5 + call);
    const tool = tools[pick % tools.length];
    const values: readonly JsonValue[] = [word, 'x', 'a/b', 3, { a: 1 }];
    const given = (tool?.parameters.required ?? []).map((name) => [name, values[at(8 + call) % values.length] ?? null]);
    const more = pick % 3 === 0 ? [['q', word]] : [];
    return {
      id: `call-${call}`,
      name: pick < 12 ? 'other' : (tool?.name ?? ''),
      arguments: pick > 245 ? word : (Object.fromEntries([...given, ...more]) as JsonValue),
    };
  });
}

/** An answer that depends only on the call, so that it is the same in any order of the calls. */
function answerTo(seed: number, port: PortName, request: unknown, attempt: number): ReferenceAnswer {
  const bytes = createHash('sha256')
    .update(`${seed} ${port} ${attempt} ${textOf(request)}`)
    .digest();
  const [kind, pick, effect] = [bytes.readUInt16BE(0) / 65_536, bytes[2] ?? 0, bytes[3] ?? 0];
  if (kind < 0.1) {
    return { error: portErrorCodes[pick % portErrorCodes.length] ?? 'unavailable', hadNoEffect: effect % 2 === 0 };
  }
  if (kind < 0.12) return { answer: 7 };
  const word = ['tea', 'boat', 'stop', 'Größe', ''][pick % 5] ?? '';
  const items = Array.from({ length: pick % 4 }, (_, at) => (at === 1 ? word : { title: word, at }));
  const answers: Readonly<Record<PortName, JsonValue>> = {
    model: {
      text: pick % 3 === 0 ? JSON.stringify({ answer: word }) : word,
      usage: { promptTokens: pick, completionTokens: 1 },
      ...(port === 'model' ? { toolCalls: toolCallsOf(request, bytes, word) } : {}),
    },
    retrieval: { items: items.filter((one) => typeof one === 'object'), ...(pick % 5 === 0 ? {} : { text: word }) },
    memorySearch: { items: items.filter((one) => typeof one === 'object') },
    memoryAdd: { eventId: `e${pick}` },
    sessionGet: { state: pick % 2 === 0 ? { mood: word } : {} },
    sessionPut: {},
    guardrail: {
      decision: ['pass', 'mask', 'deny'][pick % 3] ?? 'pass',
      ...(pick % 4 === 0 ? {} : { text: `*${word}` }),
    },
    http: { status: 200 + pick, body: pick % 2 === 0 ? { name: word } : items },
    mcp: { text: word, ...(pick % 2 === 0 ? { data: items } : {}) },
    agent: pick % 2 === 0 ? { text: word } : { data: { word } },
    file: { mediaType: 'text/plain', ...(pick % 4 === 0 ? {} : { text: word, providerFileId: `f${pick}` }) },
  };
  return { answer: answers[port] };
}

function portsOf(seed: number): FlowPorts {
  const port = (name: PortName) => async (request: unknown, call: { readonly attempt: number }) => {
    const given = answerTo(seed, name, request, call.attempt);
    if ('answer' in given) return given.answer;
    throw new PortError(given.error as PortError['code'], given);
  };
  return scriptedPorts(Object.fromEntries(ports.map((name) => [name, port(name)])) as Partial<FlowPorts>).ports;
}

/** How a random flow ended in both implementations. A difference is a sentence with the seed. */
type Comparison = { readonly end: string; readonly nodes: number; readonly difference?: string };

/** Subflows of one comparison: each may run those before it in the list. */
type Subflows = { readonly texts: Map<string, string>; readonly sources: Map<string, FlowSource> };
const mostNodes = { flow: 28, subflow: 8 } as const;

function loadRandom(random: () => number, { texts }: Subflows, most: number) {
  const given: RandomSubflow[] = [...texts.keys()].map((sha256) => ({ sha256 }));
  const source = randomFlow(random, { subflows: given, mostNodes: most });
  const text = stringify(source, { aliasDuplicateObjects: false });
  return { text, load: loadFlow(text, { subflows: (sha256) => texts.get(sha256) }) };
}

/** Runs a random flow by the engine and by the reference. */
export async function compareRandomFlow(seed: number, random: () => number): Promise<Comparison> {
  const subflows: Subflows = { texts: new Map(), sources: new Map() };
  for (let count = Math.floor(random() * 3); count > 0; count -= 1) {
    const { text, load } = loadRandom(random, subflows, mostNodes.subflow);
    if (!load.ok) return refused(seed, load.problems[0]);
    subflows.texts.set(load.flow.sha256, text);
    subflows.sources.set(load.flow.sha256, load.flow.source);
  }
  const { load } = loadRandom(random, subflows, mostNodes.flow);
  if (!load.ok) return refused(seed, load.problems[0]);
  const input = randomInput(random);
  const request = { entrypoint: 'main', input, context, runId: 'r', traceId: 't' };
  const events: RunEvent[] = [];
  const sources = { random: () => 0, pause: async () => undefined };
  for await (const event of runFlow(load.flow, request, portsOf(seed), new AbortController().signal, sources)) {
    events.push(event);
  }
  const ask = (...call: [PortName, JsonValue, number]): ReferenceAnswer => answerTo(seed, ...call);
  const reference = runReference(load.flow.source, input, { context, ask, subflows: subflows.sources });
  const last = events.at(-1);
  const end = last?.type === 'failed' ? last.code : (last?.type ?? 'nothing');
  const wrong = resultDifference(last, reference) ?? endsDifference(events, reference);
  const difference = wrong === undefined ? {} : { difference: `flow ${seed}: ${wrong}` };
  return { end, nodes: reference.ends.length, ...difference };
}

function refused(seed: number, problem: unknown): Comparison {
  return { end: 'not loaded', nodes: 0, difference: `flow ${seed} is refused: ${textOf(problem)}` };
}

function resultDifference(last: RunEvent | undefined, { result, faults, flowCode, isExact }: ReferenceRun) {
  if (last?.type === 'result') {
    if (isDeepStrictEqual(last.result, result)) return undefined;
    return `the engine gives ${textOf(last.result)}, the reference ${textOf(result ?? faults)}`;
  }
  if (last?.type !== 'failed') return 'the engine ends with no event of an end';
  const isAgreed =
    faults?.some(({ code, path }) => code === last.code && path === last.path) === true &&
    (!isExact || last.flowCode === flowCode || last.code !== 'flow_failed');
  return isAgreed ? undefined : `the engine fails with ${textOf(last)}, the reference ${textOf(result ?? faults)}`;
}

/**
 * The difference between the ends of all nodes; the order is ignored if walks ran concurrently, and nothing is compared
 * if a concurrent walk failed.
 */
function endsDifference(events: readonly RunEvent[], { ends, isOrdered, isExact }: ReferenceRun): string | undefined {
  if (!isExact) return undefined;
  const given = events.flatMap((event) =>
    event.type === 'nodeEnded' ? [`${event.path} ${event.outcome} ${event.attempts}`] : [],
  );
  const wanted = ends.map(({ path, outcome, attempts }) => `${path} ${outcome} ${attempts}`);
  const [one, other] = isOrdered ? [given, wanted] : [given.toSorted(), wanted.toSorted()];
  const at = one.findIndex((line, index) => line !== other[index]);
  if (at < 0 && one.length === other.length) return undefined;
  return `end ${at} of a node is ${one[at]} in the engine and ${other[at]} in the reference`;
}
