import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { agentSubject, userSubject } from '#relations/subject';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { openFolderWorld } from '../../dataplane/agents/testing/file-world.ts';
import { documentOf } from '../../dataplane/retrieval/testing/open-retrieval.ts';
import { ann, exampleSources, type GrantedAgents, grantIssuer, startGrantedAgents } from './start-granted-agents.ts';

const remembersId = '01890a5d-ac96-774b-bcce-b302099a8074';
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

describe.skipIf(missingPostgres !== undefined)(onPostgres('calls of flows'), () => {
  let world: GrantedAgents;
  let remembers: string;
  let planner: string;
  beforeAll(async () => {
    world = await startGrantedAgents();
    remembers = await world.add({
      name: 'remembers',
      agentId: remembersId,
      bundle: { ...exampleSources('remembers'), requires: [{ kind: 'memory', name: 'memory' }] },
    });
    planner = await world.add({
      name: 'planner',
      bundle: { ...exampleSources('planner'), requires: [{ kind: 'agent', name: remembersId }] },
    });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());
  beforeEach(() => world.missingRights.clear());

  const dataOf = ({ json }: { readonly json: unknown }) =>
    (json as { message: { parts: [{ data: Record<string, unknown> }] } }).message.parts[0].data;
  const codeOf = ({ json }: { readonly json: unknown }): unknown =>
    (json as { error?: { details?: [{ metadata?: { code?: unknown } }] } }).error?.details?.[0]?.metadata?.code;
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
    const sources = await until('the document is found', async () => {
      const answer = await world.send(searcher, [{ text: 'Hotels' }]);
      expect(answer.status).toBe(200);
      const found = dataOf(answer)['sources'] as { doc_id: string; text: string }[];
      return found.length === 0 ? undefined : found;
    });
    expect(sources[0]).toMatchObject({ doc_id: 'travel' });
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
