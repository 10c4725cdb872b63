import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { close, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { messageOf, type RunningAgent, startAgent } from '../../dataplane/agents/testing/start-agent.ts';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';

const ref = (path: string): string => `\${${path}}`;

describe.skipIf(missingPostgres !== undefined)(onPostgres('memory nodes of served versions'), () => {
  let memory: OpenedMemory;
  /** A server that forwards requests to the memory service. The answers of the next `lost` requests do not arrive. */
  let way: ScriptedHttp;
  let lost = 0;
  beforeAll(async () => {
    memory = await openMemory();
    way = await startScriptedHttp(async (response, { method, path, headers, text }) => {
      const { host: _host, connection: _connection, 'content-length': _length, ...given } = headers;
      const answer = await fetch(`${memory.url}${path}`, {
        method,
        headers: given as Record<string, string>,
        ...(text === '' ? {} : { body: text }),
      });
      const body = await answer.text();
      lost -= 1;
      if (lost >= 0) return close(response);
      return response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
    });
  });
  afterAll(async () => {
    await way?.[Symbol.asyncDispose]();
    await memory?.[Symbol.asyncDispose]();
  });

  /** A served version whose flow runs these nodes and returns a text. */
  function serve(agentId: string, nodes: readonly { readonly id: string }[], answer: unknown): Promise<RunningAgent> {
    const ids = ['start', ...nodes.map(({ id }) => id), 'end'];
    const flow = {
      ...questionFlow(),
      nodes: [{ id: 'start', kind: 'input' }, ...nodes, { id: 'end', kind: 'output', inputs: { data: { answer } } }],
      edges: ids.slice(1).map((to, at) => ({ from: ids[at], to })),
    };
    const bundle = agentBundle({ flow, bundle: { agentId, requires: [{ kind: 'memory', name: 'memory' }] } });
    return startAgent({ bundle, services: { memory: new URL(way.url) } });
  }

  async function answerOf(agent: RunningAgent, user: string, text: string, contextId = 'talk'): Promise<unknown> {
    const { message } = messageOf({ text }) as { readonly message: object };
    const headers = { 'x-user-id': user, 'x-tenant-id': 'acme' };
    const { json } = await agent.call('POST', '/message:send', { message: { ...message, contextId } }, headers);
    return (json as { message?: { parts: [{ data: { answer: unknown } }] } }).message?.parts[0].data.answer ?? json;
  }

  test('a memory_add whose answer is lost is one event after its retry, and the next run adds another one', async () => {
    const add = {
      id: 'keep',
      kind: 'memory_add',
      inputs: { text: ref('input.question') },
      config: { infer: false },
      retry: { maxAttempts: 2, on: ['unavailable'] },
    };
    await using agent = await serve('01890a5d-ac96-774b-bcce-b302099a80a1', [add], ref('nodes.keep.output.eventId'));
    lost = 1;
    const first = await answerOf(agent, 'ann', 'I like tea.');
    expect(way.seen).toHaveLength(2);
    const second = await answerOf(agent, 'ann', 'I like tea.');
    const stored = await memory.database.database.sql<{ event_id: string }[]>`
      select event_id from memory.events`;
    expect(stored.map(({ event_id }) => event_id).sort()).toEqual([first, second].sort());
    expect(second).not.toBe(first);
  });

  test('two agents in one conversation of a user have their own session states, with ids of any length', async () => {
    const nodes = [
      { id: 'known', kind: 'session_get' },
      { id: 'keep', kind: 'session_put', inputs: { state: { said: ref('input.question') } } },
    ];
    const before = { from: ref('nodes.known.output.state.said'), default: 'nothing' };
    await using planner = await serve('01890a5d-ac96-774b-bcce-b302099a80a2', nodes, before);
    await using helper = await serve('01890a5d-ac96-774b-bcce-b302099a80a3', nodes, before);
    for (const session of ['talk', '..', 's'.repeat(256)]) {
      expect(await answerOf(planner, 'ann', 'one', session)).toBe('nothing');
      expect(await answerOf(helper, 'ann', 'two', session)).toBe('nothing');
      expect(await answerOf(planner, 'ann', 'three', session)).toBe('one');
      expect(await answerOf(planner, 'bob', 'four', session)).toBe('nothing');
    }
    expect(await answerOf(planner, 'ann', 'five', 'another talk')).toBe('nothing');
  });
});
