import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RoutedVersion } from '#resources/agent-route';
import { missingPostgres } from '#sql/testing/test-server';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { messageOf } from '../../dataplane/agents/testing/start-agent.ts';
import { alias } from '../support/start-guarded-gateway.ts';
import { verifies } from '../support/verifies.ts';
import { type AgentGateway, startAgentGateway } from './start-agent-gateway.ts';

describe.skipIf(missingPostgres !== undefined)('a real agent behind the gateway', () => {
  let world: AgentGateway;
  let version: RoutedVersion;
  const bundle = agentBundle({
    flow: questionFlow(alias),
    bundle: { requires: [{ kind: 'model', name: alias }] },
  });
  const { agentId, versionId } = bundle;
  beforeAll(async () => {
    world = await startAgentGateway();
    const { process: _, ...routed } = await world.startVersion(bundle);
    version = routed;
    await world.serve({ name: 'question', agentId, served: versionId, versions: [version] });
    await world.allow('ann', 'invoke', agentId);
    await world.allow('vic', 'view', agentId);
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const body = messageOf({ text: 'hello' });

  verifies(
    ['agent-gateway:invoke:agent-right', 'agents:exposure:not-public'],
    'a person with the right invoke gets the answer of the agent through the gateway, and every other caller is refused',
    async () => {
      world.platform.upstream.play({ kind: 'answer', content: 'a healthy answer' });
      const answer = await world.call(`${agentId}/message:send`, { as: 'ann', body });
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('a healthy answer')]);
      const before = world.platform.upstream.seen.length;
      for (const [as, status] of [
        ['vic', 403],
        ['bob', 404],
        [undefined, 401],
      ] as const) {
        const refused = await world.call(`${agentId}/message:send`, { as, body });
        expect([as, refused.status]).toEqual([as, status]);
      }
      const direct = await fetch(`${version.address}/message:send`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'a2a-version': '1.0',
          authorization: `Bearer ${await world.personToken('ann')}`,
        },
        body: JSON.stringify(body),
      });
      expect(direct.status).toBe(401);
      expect(world.platform.upstream.seen.length).toBe(before);
    },
  );

  test('the gateway relays the stream of an agent event by event', async () => {
    world.platform.upstream.play({ kind: 'answer', content: 'a healthy answer' });
    const answer = await world.call(`${agentId}/message:stream`, { as: 'ann', body });
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await answer.text()).toContain('TASK_STATE_COMPLETED');
  });

  test('the agent card has the signature of the gateway and an ETag for revalidation', async () => {
    const path = `${agentId}/.well-known/agent-card.json`;
    const card = await world.call(path, { as: 'vic', method: 'GET' });
    const text = await card.text();
    expect(card.status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ signatures: [{ signature: expect.any(String) }] });
    const etag = card.headers.get('etag') ?? '';
    expect(etag).toBe(`"${createHash('sha256').update(text).digest('hex')}"`);
    const again = await world.call(path, { as: 'vic', method: 'GET', headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
  });

  test('a listed confirmer calls the tool of an agent over MCP, and every other caller gets 404 until the route says R2', async () => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    };
    const headers = { accept: 'application/json, text/event-stream' };
    const answer = await world.call(`${agentId}/mcp`, { as: 'ann', body: message, headers });
    expect([answer.status, answer.headers.has('mcp-session-id')]).toEqual([200, true]);
    await world.allow('ben', 'invoke', agentId);
    expect((await world.call(`${agentId}/mcp`, { as: 'ben', body: message, headers })).status).toBe(404);
    expect((await world.call(`${agentId}/message:send`, { as: 'ben', body })).status).toBe(200);

    // With R2 the running process accepts every caller whom the gateway admits, without a restart.
    await world.serve({ name: 'question', agentId, versions: [version], served: version.versionId, exposure: 'R2' });
    const admitted = await world.call(`${agentId}/mcp`, { as: 'ben', body: message, headers });
    expect([admitted.status, admitted.headers.has('mcp-session-id')]).toEqual([200, true]);
    expect((await world.call(`${agentId}/mcp`, { as: 'bob', body: message, headers })).status).toBe(404);
    await world.serve({ name: 'question', agentId, versions: [version], served: version.versionId, exposure: 'R1' });
    expect((await world.call(`${agentId}/mcp`, { as: 'ben', body: message, headers })).status).toBe(404);
  });
});
