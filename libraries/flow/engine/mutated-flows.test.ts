import { type Arbitrary, array, assert, asyncProperty, constantFrom, nat, oneof, record } from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { flowErrors } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import { loadFlow } from '../loader/load-flow.ts';
import { problemCodes } from '../source/problem.ts';
import { richFlow } from '../testing/rich-flow.ts';
import { scriptedPorts } from '../testing/scripted-ports.ts';
import { PortError } from './flow-error.ts';
import type { FlowPorts } from './ports.ts';
import { runFlow } from './run-flow.ts';

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
const mutation = record({
  at: nat(),
  by: oneof(
    constantFrom<JsonValue | undefined>(undefined, null, 0, 1, -1, '', true, [], {}, 'a'.repeat(200), '__proto__', 1e9),
    constantFrom(...ids) as Arbitrary<JsonValue>,
    constantFrom(...ids).map((id) => `\${nodes.${id}.output}`),
    constantFrom(...ids).map((id) => `{{nodes.${id}.output.text}} and more`),
    constantFrom(...['item', 'state.note', 'input.items', 'context'].map((path) => `\${${path}}`), '{{', '(a+)+$'),
  ),
});

function mutated(mutations: readonly { readonly at: number; readonly by: JsonValue | undefined }[]): JsonValue {
  const flow = structuredClone(richFlow) as unknown as JsonValue;
  for (const { at, by } of mutations) {
    const members = membersOf(flow);
    const [container, name] = members[at % members.length] ?? [[], 0];
    if (by !== undefined) Object.assign(container, { [name]: by });
    else if (Array.isArray(container)) container.splice(Number(name), 1);
    else delete container[name];
  }
  return flow;
}

const answers = ['good', 'good', 'good', 'odd', 'away', 'denied', 'broken', 'silent'] as const;
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

function portsOf(kinds: readonly (typeof answers)[number][]): FlowPorts {
  let at = 0;
  const port = (name: keyof FlowPorts) => async () => {
    const kind = kinds[at % kinds.length] ?? 'good';
    at += 1;
    if (kind === 'odd') return 7;
    if (kind === 'away') throw new PortError('unavailable');
    if (kind === 'denied') throw new PortError('guardrail_denied');
    if (kind === 'broken') throw new TypeError('a text that nobody may see');
    if (kind === 'silent') return await new Promise(() => undefined);
    return good[name];
  };
  return scriptedPorts(Object.fromEntries(Object.keys(good).map((name) => [name, port(name as keyof FlowPorts)])))
    .ports;
}

test('the flow that is changed is accepted, and runs to its end', async () => {
  const load = loadFlow(stringify(richFlow, { aliasDuplicateObjects: false }));
  if (!load.ok) throw new Error(JSON.stringify(load.problems));
  const request = {
    entrypoint: 'main',
    input: { question: 'why?' },
    context: { userId: 'ann' },
    runId: 'r',
    traceId: 't',
  };
  const events = [];
  for await (const event of runFlow(load.flow, request, portsOf(['good']), new AbortController().signal))
    events.push(event);
  expect(events.at(-1)).toEqual({ type: 'result', result: { text: 'Answer: hello', data: { answer: 'hello' } } });
  const run = new Set(events.flatMap((event) => (event.type === 'nodeEnded' ? [event.node] : [])));
  expect(richFlow.nodes.map(({ id }) => id).filter((id) => !run.has(id))).toEqual(['stop', 'none']);
});

test('each changed flow that is accepted ends or gives a typed error, and each that is refused names a place', async () => {
  let [accepted, refused] = [0, 0];
  const input = record({
    mutations: array(mutation, { maxLength: 2 }),
    kinds: array(constantFrom(...answers), { minLength: 1, maxLength: 8 }),
  });
  await assert(
    asyncProperty(input, async ({ mutations, kinds }) => {
      const text = stringify(mutated(mutations), { aliasDuplicateObjects: false });
      const load = loadFlow(text);
      if (!load.ok) {
        refused += 1;
        expect(load.problems.length).toBeGreaterThan(0);
        const lines = text.split('\n').length;
        for (const { code, line, column, message } of load.problems) {
          expect(problemCodes).toContain(code);
          expect([line >= 1, line <= lines, column >= 1, message !== '']).toEqual([true, true, true, true]);
        }
        return;
      }
      accepted += 1;
      const entrypoint = Object.keys(load.flow.source.entrypoints)[0] ?? '';
      const request = { entrypoint, input: { question: 'why?' }, context: { userId: 'ann' }, runId: 'r', traceId: 't' };
      const budget = { timeoutMs: 30 };
      const types: string[] = [];
      let code: string | undefined;
      for await (const event of runFlow(
        load.flow,
        { ...request, budget },
        portsOf(kinds),
        new AbortController().signal,
      )) {
        types.push(event.type);
        if (event.type !== 'failed') continue;
        code = event.code;
        expect(event.message).not.toContain('nobody may see');
      }
      expect(types.filter((type) => type === 'result' || type === 'failed')).toEqual([types.at(-1)]);
      if (code !== undefined) expect(Object.keys(flowErrors)).toContain(code);
      expect(types.filter((type) => type === 'nodeStarted').length).toBe(
        types.filter((type) => type === 'nodeEnded').length,
      );
    }),
    { numRuns: 400, seed: 15 },
  );
  // A property of refusals only, or of successes only, would say nothing.
  expect(accepted / (accepted + refused)).toBeGreaterThan(0.3);
  expect(accepted / (accepted + refused)).toBeLessThan(0.7);
});
