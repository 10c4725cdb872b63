import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { answers, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { agentSubject, userSubject } from '#relations/subject';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { folderWithFiles, runInProcess } from '../../cli/testing/run-cli.ts';
import { openFolderWorld } from '../../dataplane/agents/testing/file-world.ts';
import { policyName } from '../../dataplane/agents/testing/start-agent.ts';
import { documentOf } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../support/sample-policy.ts';
import { startToolServer, type ToolServer } from '../support/start-tool-server.ts';
import { ann, exampleSources, type GrantedAgents, grantIssuer, startGrantedAgents } from './start-granted-agents.ts';

const remembersId = '249e3b76-e867-89ca-b2be-b601401706ce';
const searchFlow = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8075', name: 'search', version: 1 },
  input: { schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  output: { schema: { type: 'object', properties: { sources: { type: 'array' } }, required: ['sources'] } },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    {
      id: 'find',
      kind: 'retrieval',
      inputs: { query: `\${${'input.text'}}` },
      config: { collection: 'handbook', topK: 3 },
    },
    { id: 'end', kind: 'output', inputs: { data: { sources: `\${${'nodes.find.output.items'}}` } } },
  ],
  edges: [
    { from: 'start', to: 'find' },
    { from: 'find', to: 'end' },
  ],
};

/** Reads a person from an outside service, and judges the answer before anything uses it. */
const personFlow = {
  apiVersion: 'platform.low-code.flow/v2',
  metadata: { flowId: '01890a5d-ac96-774b-bcce-b302099a8076', name: 'person', version: 1 },
  input: { schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  output: { schema: { type: 'object', properties: { person: { type: 'string' } }, required: ['person'] } },
  entrypoints: { main: 'start' },
  nodes: [
    { id: 'start', kind: 'input' },
    {
      id: 'get',
      kind: 'tool_http',
      inputs: { path: { id: `\${${'input.text'}}` } },
      config: { connection: 'crm', method: 'GET', path: '/people/{id}' },
    },
    { id: 'words', kind: 'template', config: { text: '{{nodes.get.output.body.note}}' } },
    {
      id: 'judge',
      kind: 'guardrail',
      inputs: { text: `\${${'nodes.words.output.text'}}` },
      config: { policy: policyName, stage: 'response' },
    },
    { id: 'end', kind: 'output', inputs: { data: { person: `\${${'nodes.judge.output.text'}}` } } },
  ],
  edges: [
    { from: 'start', to: 'get' },
    { from: 'get', to: 'words' },
    { from: 'words', to: 'judge' },
    { from: 'judge', to: 'end' },
  ],
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('calls of flows'), () => {
  let world: GrantedAgents;
  let remembers: string;
  let planner: string;
  let tools: ToolServer;
  let crm: ScriptedHttp;
  beforeAll(async () => {
    tools = await startToolServer({ token: 'tool-secret' });
    crm = await startScriptedHttp(answers({ note: 'fine' }));
    const shared = { allowedNetworks: ['127.0.0.0/8'] };
    world = await startGrantedAgents({
      connections: [
        {
          ...shared,
          name: 'weather',
          kind: 'mcp',
          url: tools.url,
          tools: ['weather'],
          agents: ['planner'],
          credential: 'weather-token',
        },
        {
          ...shared,
          name: 'crm',
          kind: 'http',
          url: crm.url,
          agents: ['person', 'two-calls'],
          credential: 'crm-token',
        },
      ],
      credentials: { 'weather-token': 'tool-secret', 'crm-token': 'crm-secret' },
    });
    remembers = await world.add({
      name: 'remembers',
      agentId: remembersId,
      bundle: { ...exampleSources('remembers'), requires: [{ kind: 'memory', name: 'memory' }] },
    });
    planner = await world.add({
      name: 'planner',
      bundle: {
        ...exampleSources('planner'),
        requires: [
          { kind: 'agent', name: remembersId },
          { kind: 'mcp', name: 'weather' },
        ],
      },
    });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await Promise.all([tools, crm].map((one) => one?.[Symbol.asyncDispose]()));
  });
  beforeEach(() => world.missingRights.clear());

  const dataOf = ({ json }: { readonly json: unknown }) =>
    (json as { message: { parts: [{ data: Record<string, unknown> }] } }).message.parts[0].data;
  const factsOf = ({ json }: { readonly json: unknown }) =>
    (json as { error?: { details?: [{ metadata?: { code?: unknown; flowCode?: unknown } }] } }).error?.details?.[0]
      ?.metadata;
  const codeOf = (answer: { readonly json: unknown }): unknown => factsOf(answer)?.code;
  const flowCodeOf = (answer: { readonly json: unknown }): unknown => factsOf(answer)?.flowCode;
  const memoriesOf = (found: unknown): unknown[] => (found as { memory: unknown }[]).map(({ memory }) => memory);

  test('an agent stores a memory of its user, and another agent that the same user calls reads it through the first one', async () => {
    const first = await world.send(remembers, [{ text: 'Ann likes green tea.' }]);
    expect(first.status).toBe(200);
    expect(dataOf(first)['memories']).toEqual([]);
    const again = await until('the memory is found', async () => {
      const found = memoriesOf(dataOf(await world.send(remembers, [{ text: 'green tea' }]))['memories']);
      return found.includes('Ann likes green tea.') ? found : undefined;
    });
    expect(again).toContain('Ann likes green tea.');
    const asked = await world.send(planner, [{ text: 'green tea' }]);
    expect(memoriesOf(dataOf(asked)['known'])).toContain('Ann likes green tea.');
    expect(dataOf(asked)['weather']).toBe('It is 21 degrees in green tea.');
    // The server receives the credential of the connection, and nothing that identifies the user or the run.
    const seen = JSON.stringify(tools.seen);
    expect(seen).toContain('Bearer tool-secret');
    expect(seen).not.toMatch(/\bann\b|acme|eyJ|traceparent/);
  });

  test('an agent calls an outside HTTP service with a credential that its process does not have, and its flow judges the answer', async () => {
    const requires = [
      { kind: 'connection' as const, name: 'crm' },
      { kind: 'policy' as const, name: policyName },
    ];
    const person = await world.add({
      name: 'person',
      flow: personFlow,
      policy: sampleDefinition(),
      bundle: { requires },
    });
    const ask = (id: string) => world.send(person, [{ text: id }]);
    expect(dataOf(await ask('7'))).toEqual({ person: 'fine' });
    expect(crm.seen[0]).toMatchObject({ path: '/people/7', headers: { authorization: 'Bearer crm-secret' } });
    crm.play(answers({ note: `the ${maskedTerm}` }));
    expect(dataOf(await ask('7'))).toEqual({ person: `the ${replacement}` });
    crm.play(answers({ note: `the ${deniedTerm}` }));
    expect(codeOf(await ask('7'))).toBe('guardrail_denied');
    crm.play(answers('', 302, { location: 'http://127.0.0.1/' }));
    expect(flowCodeOf(await ask('7'))).toBe('answer_invalid');
    crm.play(answers({}, 503));
    expect(flowCodeOf(await ask('7'))).toBe('unavailable');
    const seen = crm.seen.length;
    expect(flowCodeOf(await ask('../admin'))).toBe('refused');
    expect(crm.seen).toHaveLength(seen);
  });

  test('a run whose user loses the right to the agent while it runs makes no further call', async () => {
    const [start, get] = personFlow.nodes;
    const end = { id: 'end', kind: 'output', inputs: { data: { person: `\${${'nodes.again.output.body.note'}}` } } };
    const flow = {
      ...personFlow,
      nodes: [
        start,
        get,
        { ...get, id: 'again', onError: { goto: 'instead' } },
        end,
        { ...end, id: 'instead', inputs: { data: { person: 'none' } } },
      ],
      edges: [
        { from: 'start', to: 'get' },
        { from: 'get', to: 'again' },
        { from: 'again', to: 'end' },
      ],
    };
    const id = await world.add({
      name: 'two-calls',
      flow,
      bundle: { requires: [{ kind: 'connection', name: 'crm' }] },
    });
    crm.play(answers({ note: 'fine' }));
    expect(dataOf(await world.send(id, [{ text: '7' }]))).toEqual({ person: 'fine' });
    crm.forget();
    crm.play((response, request) => {
      world.missingRights.add(`${userSubject(ann)} invoke agent:${id}`);
      answers({ note: 'fine' })(response, request);
    });
    expect(factsOf(await world.send(id, [{ text: '7' }]))).toMatchObject({
      code: 'forbidden',
      flowCode: 'grant_ended',
    });
    expect(crm.seen).toHaveLength(1);
  });

  test('an agent that a connection does not list gets no token for it', async () => {
    const requires = [{ kind: 'connection' as const, name: 'crm' }];
    const nodes = personFlow.nodes.filter(({ id }) => id !== 'judge');
    const [start, get, words, end] = nodes;
    const flow = {
      ...personFlow,
      nodes: [start, get, words, { ...end, inputs: { data: { person: `\${${'nodes.words.output.text'}}` } } }],
      edges: [
        { from: 'start', to: 'get' },
        { from: 'get', to: 'words' },
        { from: 'words', to: 'end' },
      ],
    };
    const other = await world.add({ name: 'other', flow, bundle: { requires } });
    const seen = crm.seen.length;
    expect(codeOf(await world.send(other, [{ text: '7' }]))).toBe('forbidden');
    expect(crm.seen).toHaveLength(seen);
  });

  test('a call of another agent needs the rights of both the user and the calling agent, checked at each call', async () => {
    const ask = () => world.send(planner, [{ text: 'tea' }]);
    expect((await ask()).status).toBe(200);
    for (const subject of [userSubject(ann), agentSubject({ issuer: grantIssuer, subject: planner })]) {
      world.missingRights.add(`${subject} invoke agent:${remembers}`);
      expect(codeOf(await ask())).toBe('forbidden');
      world.missingRights.clear();
      expect((await ask()).status).toBe(200);
    }
  });

  test('an agent version gets no token for a target that its route does not list', async () => {
    const stranger = await world.add({
      name: 'stranger',
      bundle: { ...exampleSources('remembers'), requires: [{ kind: 'memory', name: 'memory' }] },
      routed: [{ kind: 'Collection', name: 'handbook' }],
    });
    expect(codeOf(await world.send(stranger, [{ text: 'tea' }]))).toBe('forbidden');
  });

  test('an agent answers from a collection with documents that its user may read', async () => {
    const { retrieval } = world;
    const authorized = async () => ({ authorization: `Bearer ${await world.serviceToken('retrieval')}` });
    const body = { name: 'handbook', embedding_profile_id: 'test-profile', acl_model: 'collection' };
    expect((await retrieval.call({}, '/v1/collections', body, await authorized())).status).toBe(201);
    const documents = [documentOf('handbook', 'travel', 'Hotels cost at most 180 euros.')];
    const submitted = await retrieval.call({}, '/v1/documents:submit', { documents }, await authorized());
    expect(submitted.status).toBe(202);
    const searcher = await world.add({
      name: 'search',
      flow: searchFlow,
      bundle: { requires: [{ kind: 'collection', name: 'handbook' }] },
    });
    const statuses = new Set<number>();
    const sources = await until('the document is found', async () => {
      const answer = await world.send(searcher, [{ text: 'Hotels' }]);
      statuses.add(answer.status);
      const found = dataOf(answer)['sources'] as { doc_id: string; text: string }[];
      return found.length === 0 ? undefined : found;
    });
    expect([...statuses]).toEqual([200]);
    expect(sources[0]).toMatchObject({ doc_id: 'travel' });

    using folder = folderWithFiles();
    const flow = folder.write('flow.json', JSON.stringify(searchFlow));
    const token = folder.write('token', await world.serviceToken('retrieval'));
    const at = ['--gateway', world.gateway, '--retrieval', retrieval.url, '--tenant', 'acme'];
    const run = ['flow', 'run', flow, '-m', 'Hotels', ...at, '--service-token-file', token];
    const end = await runInProcess(run);
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining('find retrieval: ok')]);
    expect(JSON.parse(end.stdout).sources).toMatchObject([{ doc_id: 'travel' }]);
    const person = folder.write('person', (await world.bearer()).replace('Bearer ', ''));
    const unchained = await runInProcess([...run.slice(0, -2), '--token-file', person]);
    expect([unchained.code, unchained.stderr]).toEqual([1, expect.stringContaining('forbidden at find')]);
  });

  test('an agent reads the file of a reference that is issued for its caller', async () => {
    await using files = await openFolderWorld();
    const reader = await world.add({
      name: 'reader',
      bundle: { ...exampleSources('reader'), requires: [] },
      config: { files: files.place },
    });
    const file = files.add('the notes of ann');
    const bound = { agentId: reader, session: 'session-1', acting: ann };
    const read = await world.send(reader, [{ data: { file: await files.mint(file, bound) } }]);
    expect(dataOf(read)).toEqual({ text: 'the notes of ann' });
    const bob = { ...ann, subject: 'bob' };
    const other = await world.send(reader, [{ data: { file: await files.mint(file, { ...bound, acting: bob }) } }]);
    expect([other.status, codeOf(other)]).toEqual([403, 'file_refused']);
  });
});
