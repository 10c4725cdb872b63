import { stringify } from 'yaml';
import { flowErrors } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts } from '../engine/ports.ts';
import { runFlow } from '../engine/run-flow.ts';
import { loadFlow } from '../loader/load-flow.ts';
import { problemCodes } from '../source/problem.ts';
import { richFlow } from './rich-flow.ts';
import { scriptedPorts } from './scripted-ports.ts';

type Container = { [name: string]: JsonValue } | JsonValue[];

/** Every member of every container, as the container and the name. */
function membersOf(value: JsonValue): readonly (readonly [Container, string | number])[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => [
    [value, Array.isArray(value) ? Number(name) : name] as const,
    ...membersOf(member),
  ]);
}

const ids = richFlow.nodes.map(({ id }) => id);
const replacements: readonly ((oneOf: <T>(values: readonly T[]) => T) => JsonValue | undefined)[] = [
  (oneOf) => oneOf([undefined, null, 0, 1, -1, '', true, [], {}, 'a'.repeat(200), '__proto__', 1e9]),
  (oneOf) => oneOf(ids),
  (oneOf) => `\${nodes.${oneOf(ids)}.output}`,
  (oneOf) => `{{nodes.${oneOf(ids)}.output.text}} and more`,
  (oneOf) => oneOf([...['item', 'state.note', 'input.items', 'context'].map((path) => `\${${path}}`), '{{', '(a+)+$']),
];

/** Replaces a value by another value of its kind: a number, another expression of the flow, or a word. */
function alike(value: JsonValue, oneOf: <T>(values: readonly T[]) => T): JsonValue | undefined {
  if (typeof value === 'number') return oneOf([1, 2, 3, 5, 50, 1_000]);
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'string') return undefined;
  const expressions = membersOf(richFlow as unknown as JsonValue)
    .map(([container, name]) => (container as { [name: string | number]: JsonValue })[name])
    .filter((one): one is string => typeof one === 'string' && one.startsWith('${'));
  return value.startsWith('${') ? oneOf(expressions) : oneOf([value.slice(0, 5), `${value}-2`, 'word']);
}

/** Names of members that define the kinds and connections of nodes. */
const structural: ReadonlySet<string> = new Set(['id', 'kind', 'from', 'to', 'when', 'goto', 'body', 'type', 'flowId']);

/** The rich flow with one or two members removed or replaced. */
function mutated(random: () => number): JsonValue {
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const flow = structuredClone(richFlow) as unknown as JsonValue;
  for (let left = 1 + Math.floor(random() * 1.2); left > 0; left -= 1) {
    const isAlike = random() < 0.9;
    const members = membersOf(flow).filter(([, name]) => !isAlike || !structural.has(String(name)));
    const [container, name] = oneOf(members) ?? [[], 0];
    const held = (container as { [name: string | number]: JsonValue })[name] ?? null;
    const by = isAlike ? (alike(held, oneOf) ?? held) : oneOf(replacements)(oneOf);
    if (by !== undefined) Object.assign(container, { [name]: by });
    else if (Array.isArray(container)) container.splice(Number(name), 1);
    else delete container[name];
  }
  return flow;
}

function changedFlow(random: () => number): JsonValue {
  for (;;) {
    const flow = mutated(random);
    if (JSON.stringify(flow) !== JSON.stringify(richFlow)) return flow;
  }
}

const kinds = ['good', 'good', 'good', 'odd', 'away', 'denied', 'broken', 'silent'] as const;
const secret = 'a text that stays inside';
const good: { readonly [Name in keyof FlowPorts]: unknown } = {
  model: { text: 'hello', usage: { promptTokens: 1, completionTokens: 1 } },
  retrieval: { items: [{ a: 1 }], text: 'packed' },
  memorySearch: { items: [] },
  memoryAdd: { eventId: 'e' },
  sessionGet: { state: {} },
  sessionPut: {},
  guardrail: { decision: 'pass' },
  http: { status: 200, body: {} },
  mcp: { text: 't' },
  agent: { text: 'done' },
  file: { text: 'file', mediaType: 'text/plain' },
};

/** Ports with valid answers, invalid answers, errors or no answer. */
export function moodyPorts(nextKind: () => (typeof kinds)[number]): FlowPorts {
  const port = (name: keyof FlowPorts) => async () => {
    const kind = nextKind();
    if (kind === 'odd') return 7;
    if (kind === 'away') throw new PortError('unavailable');
    if (kind === 'denied') throw new PortError('guardrail_denied');
    if (kind === 'broken') throw new TypeError(secret);
    if (kind === 'silent') return await new Promise(() => undefined);
    return good[name];
  };
  return scriptedPorts(Object.fromEntries(Object.keys(good).map((name) => [name, port(name as keyof FlowPorts)])))
    .ports;
}

/** The outcome of a changed flow; `fault` is a sentence about a violated property. */
type MutantEnd = { readonly accepted: boolean; readonly fault?: string };

/** Loads a changed flow and, if it is accepted, runs it to its end within 30 ms. */
export async function tryMutatedFlow(random: () => number): Promise<MutantEnd> {
  const text = stringify(changedFlow(random), { aliasDuplicateObjects: false });
  const load = loadFlow(text);
  if (!load.ok) {
    const lines = text.split('\n').length;
    const isPlaced = load.problems.every(
      ({ code, line, column, message }) =>
        problemCodes.includes(code) && line >= 1 && line <= lines && column >= 1 && message !== '',
    );
    const isRight = load.problems.length > 0 && isPlaced;
    return {
      accepted: false,
      ...(isRight ? {} : { fault: `a refusal names no place: ${JSON.stringify(load.problems)}` }),
    };
  }
  const entrypoint = Object.keys(load.flow.source.entrypoints)[0] ?? '';
  const request = { entrypoint, input: { question: 'why?' }, context: { userId: 'ann' }, runId: 'r', traceId: 't' };
  const ports = moodyPorts(() => kinds[Math.floor(random() * kinds.length)] ?? 'good');
  const types: string[] = [];
  let fault: string | undefined;
  const run = { ...request, budget: { timeoutMs: 30 } };
  for await (const event of runFlow(load.flow, run, ports, new AbortController().signal)) {
    types.push(event.type);
    if (event.type !== 'failed') continue;
    if (event.message.includes(secret)) fault = 'an error has a text of a port';
    if (!Object.hasOwn(flowErrors, event.code)) fault = `${event.code} is not a code of a flow`;
  }
  const count = (type: string): number => types.filter((one) => one === type).length;
  if (count('nodeStarted') !== count('nodeEnded')) fault = 'a node began and did not end';
  const isEnded = count('result') + count('failed') === 1 && ['result', 'failed'].includes(types.at(-1) ?? '');
  if (!isEnded) fault = `a run ended with ${types.at(-1)}`;
  return { accepted: true, ...(fault === undefined ? {} : { fault }) };
}
