import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { policyName } from '../../dataplane/agents/testing/start-agent.ts';
import { deniedTerm, sampleDefinition } from '../support/sample-policy.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/start-collector.ts';
import { ann, exampleSources, type GrantedAgents, startGrantedAgents } from './start-granted-agents.ts';

const childId = '249e3b76-e867-89ca-b2be-b601401706ce';
const input = `\${${'input.text'}}`;

/** A flow that judges its text, asks a model for each of two items, searches a collection and asks another agent. */
const parentFlow = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8081', name: 'traced', version: 1 },
  input: { schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  output: { schema: { type: 'object', properties: { known: { type: 'array' } }, required: ['known'] } },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    { id: 'judge', kind: 'guardrail', inputs: { text: input }, config: { policy: policyName, stage: 'request' } },
    { id: 'list', kind: 'transform', inputs: { items: ['one', 'two'] } },
    {
      id: 'each',
      kind: 'loop',
      inputs: { items: `\${${'nodes.list.output.items'}}` },
      config: { body: 'say', maxIterations: 2, concurrency: 2 },
    },
    { id: 'say', kind: 'prompt', config: { model: 'chat', messages: [{ role: 'user', content: '{{item}}' }] } },
    {
      id: 'find',
      kind: 'retrieval',
      inputs: { query: input },
      config: { collection: 'handbook', topK: 1 },
      onError: { goto: 'ask' },
    },
    { id: 'ask', kind: 'agent', inputs: { text: input }, config: { agentId: childId } },
    { id: 'end', kind: 'output', inputs: { data: { known: `\${${'nodes.ask.output.data.memories'}}` } } },
  ],
  edges: [
    { from: 'start', to: 'judge' },
    { from: 'judge', to: 'list' },
    { from: 'list', to: 'each' },
    { from: 'each', to: 'find' },
    { from: 'find', to: 'ask' },
    { from: 'ask', to: 'end' },
  ],
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('the trace of a run'), () => {
  let world: GrantedAgents;
  let collector: Collector;
  let models: ScriptedHttp;
  let parent: string;
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const callerSpan = '00f067aa0ba902b7';
  const secret = 'my word is xylophone';
  beforeAll(async () => {
    collector = await startCollector();
    const completion = { choices: [{ message: { content: 'a zither answer' } }] };
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    models = await startScriptedHttp(answers({ ...completion, usage }));
    world = await startGrantedAgents({ traces: collector.url, modelGateway: new URL(models.url) });
    await world.add({
      name: 'remembers',
      agentId: childId,
      bundle: { ...exampleSources('remembers'), requires: [{ kind: 'memory', name: 'memory' }] },
    });
    parent = await world.add({
      name: 'traced',
      flow: parentFlow,
      policy: sampleDefinition(),
      bundle: {
        guardrails: { input: { name: policyName, revision: 1 }, output: { name: policyName, revision: 1 } } as never,
        requires: [
          { kind: 'policy', name: policyName },
          { kind: 'model', name: 'chat' },
          { kind: 'collection', name: 'handbook' },
          { kind: 'agent', name: childId },
        ],
      },
    });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await Promise.all([models, collector].map((one) => one?.[Symbol.asyncDispose]()));
  });

  const spansOf = (trace: string): readonly CollectedSpan[] =>
    collector.spans().filter(({ traceId: of }) => of === trace);
  const whole = (trace: string) =>
    until('the first span of the trace has ended', async () => {
      const spans = spansOf(trace);
      const ids = new Set(spans.map(({ spanId }) => spanId));
      const first = spans.find(
        ({ name, parentSpanId }) => name === 'gateway agent call' && !ids.has(parentSpanId ?? ''),
      );
      const isWhole = first !== undefined && spans.every((one) => one === first || ids.has(one.parentSpanId ?? ''));
      return isWhole ? spans : undefined;
    });

  test('a run, its nodes, their calls and the run of another agent that it calls are one trace below the span of the caller', async () => {
    const answer = await world.send(parent, [{ text: secret }], 'session-1', {
      traceparent: `00-${traceId}-${callerSpan}-01`,
    });
    expect(answer.status).toBe(200);
    const spans = await whole(traceId);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect(byId.size).toBe(spans.length);
    const nameOf = (span: CollectedSpan): string =>
      String(span.attributes['portcullis.node.path'] ?? span.attributes['portcullis.connection.name'] ?? span.name);
    const chainOf = (span: CollectedSpan | undefined): string[] =>
      span === undefined ? [] : [nameOf(span), ...chainOf(byId.get(span.parentSpanId ?? ''))];
    const one = (name: string): CollectedSpan => {
      const [found, ...more] = spans.filter((span) => span.name === name);
      if (found === undefined || more.length > 0) throw new Error(`${name} occurs ${more.length} times too often`);
      return found;
    };
    const run = ['agent run', 'agent request', 'gateway agent call'];
    const called = ['call agent', 'ask', ...run];
    // The chain from the memory of the called agent to the first request.
    expect(chainOf(one('call memory search'))).toEqual(['call memory search', expect.any(String), ...run, ...called]);
    const roots = spans.filter(({ parentSpanId }) => !byId.has(parentSpanId ?? ''));
    expect(roots.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([['gateway agent call', callerSpan]]);
    const said = spans.filter(({ name }) => name === 'call model').map(chainOf);
    expect(said).toHaveLength(2);
    for (const [at, chain] of said.toSorted().entries()) {
      expect(chain).toEqual(['call model', `each[${at}]/say`, 'each', ...run]);
    }
    expect(chainOf(one('call retrieval'))).toEqual(['call retrieval', 'find', ...run]);
    const guards = spans.filter(({ name }) => name === 'call guardrail').map((span) => chainOf(span).slice(1, 3));
    expect(guards.toSorted()).toEqual([
      ['agent request', 'gateway agent call'],
      ['agent run', 'agent request'],
      ['judge', 'agent run'],
    ]);
    // A trade of the grant belongs to the call for which it was made.
    const trades = spans.filter(({ name }) => name === 'gateway token exchange').map((span) => chainOf(span)[1]);
    expect(new Set(trades)).toEqual(new Set(['call model', 'call retrieval', 'call agent', ...memoryCalls(spans)]));
    // The services that were called got the span of the call.
    const sent = models.seen.map(({ headers }) => String(headers['traceparent']).split('-').slice(1, 3));
    expect(sent.map(([trace]) => trace)).toEqual([traceId, traceId]);
    expect(sent.map(([, span]) => byId.get(span ?? '')?.name)).toEqual(['call model', 'call model']);
  });

  const memoryCalls = (spans: readonly CollectedSpan[]): readonly string[] =>
    spans.filter(({ name }) => /^call (memory|session) /.test(name)).map(({ name }) => name);

  test('spans have no text, no person, no session and no token', async () => {
    await world.send(parent, [{ text: secret }], 'session-2', { traceparent: `00-${'1'.repeat(32)}-${callerSpan}-01` });
    await whole('1'.repeat(32));
    expect(collector.text()).not.toMatch(/xylophone|zither|session-|eyJ|acme/);
    expect(collector.text()).not.toContain(ann.issuer);
    const values = collector.spans().flatMap(({ attributes }) => Object.values(attributes));
    expect(values).not.toContain(ann.subject);
  });

  test('a trace whose caller does not sample it is not recorded, and a run without a trace starts a new one', async () => {
    const unsampled = '2'.repeat(32);
    await world.send(parent, [{ text: secret }], 'session-1', { traceparent: `00-${unsampled}-${callerSpan}-00` });
    const before = new Set(collector.spans().map((span) => span.traceId));
    expect((await world.send(parent, [{ text: secret }])).status).toBe(200);
    const begun = await until('a further trace is collected', async () =>
      collector.spans().find(({ parentSpanId, traceId: of }) => parentSpanId === undefined && !before.has(of)),
    );
    expect(begun.name).toBe('gateway agent call');
    expect(spansOf(unsampled)).toEqual([]);
  });

  test('the span of a refused run names the step and the code', async () => {
    const trace = '3'.repeat(32);
    await world.send(parent, [{ text: deniedTerm }], 'session-1', { traceparent: `00-${trace}-${callerSpan}-01` });
    const spans = await whole(trace);
    const request = spans.find(({ name }) => name === 'agent request');
    expect(request).toMatchObject({
      failed: true,
      attributes: { 'portcullis.code': 'guardrail_denied', 'portcullis.step': 'input_guardrails' },
    });
  });
});
