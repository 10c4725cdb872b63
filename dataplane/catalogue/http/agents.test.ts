import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

const owner = { issuer: 'https://people.example', subject: 'olga' };

describe.skipIf(missingPostgres !== undefined)(onPostgres('agents of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;

  beforeAll(async () => {
    world = parts.use(await openCatalogue());
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    [
      'catalogue:record:identifiers',
      'catalogue:record:owner',
      'catalogue:record:workspace',
      'catalogue:record:skills',
      'catalogue:invocation:url',
      'catalogue:invocation:protocol-binding',
      'catalogue:invocation:exposure',
      'catalogue:invocation:authorization',
      'catalogue:invocation:shown',
    ],
    'a caller with both rights gets the complete record with the interface of the agent',
    async () => {
      const agent = await world.publish('whole');
      await world.allow('ann', 'view', agent);
      await world.allow('ann', 'invoke', agent);
      const { status, json } = await world.ask('ann', `/api/v1/agents/${agent.agentId}`);
      expect(status).toBe(200);
      expect(json).toEqual({
        agentId: agent.agentId,
        versionId: agent.versionId,
        name: 'Agent whole',
        description: 'Answers questions about whole.',
        owner: { ownerType: 'user', ownerIssuer: owner.issuer, ownerSubject: owner.subject },
        workspace: 'support',
        state: 'active',
        protocol: 'a2a',
        implementationType: 'low-code',
        skills: [{ id: 'answer', name: 'Agent whole', description: 'Answers about whole.', tags: ['example'] }],
        invocationInterface: {
          url: `https://agents.example/agents/${agent.agentId}/versions/${agent.versionId}`,
          protocolBinding: 'A2A HTTP+JSON',
          exposure: 'public_gateway',
          authorization: 'platform_oidc_rebac',
        },
      });
      const tool = await world.publish('tool', { modes: ['mcp_tool'], cardReason: 'NoCard' });
      await world.allow('ann', 'view', tool);
      await world.allow('ann', 'invoke', tool);
      const overMcp = (await world.ask('ann', `/api/v1/agents/${tool.agentId}`)).json;
      expect(overMcp).toMatchObject({
        protocol: 'mcp',
        skills: [{ id: 'answer', tags: ['tool'] }],
        invocationInterface: {
          url: `https://agents.example/agents/${tool.agentId}/versions/${tool.versionId}/mcp`,
          protocolBinding: 'MCP Streamable HTTP',
        },
      });
    },
  );

  verifies(
    [
      'catalogue:get:view',
      'catalogue:invocation:no-invoke',
      'catalogue:list:view',
      'catalogue:surface:permission-aware',
      'catalogue:auth:current-check',
    ],
    'the current rights decide what each caller gets',
    async () => {
      const [seen, called, hidden] = [
        await world.publish('seen'),
        await world.publish('called'),
        await world.publish('hidden'),
      ];
      await world.allow('bob', 'view', seen, called);
      await world.allow('bob', 'invoke', called);
      await world.allow('cleo', 'view', hidden);
      expect(await world.listed('bob')).toEqual([seen.agentId, called.agentId].toSorted());
      expect(await world.listed('cleo')).toEqual([hidden.agentId]);
      expect(await world.listed('dave')).toEqual([]);
      const read = async (person: string, id: string) => await world.ask(person, `/api/v1/agents/${id}`);
      expect((await read('bob', seen.agentId)).json).not.toHaveProperty('invocationInterface');
      expect((await read('bob', seen.agentId)).json).toMatchObject({ name: 'Agent seen' });
      expect((await read('bob', called.agentId)).json).toHaveProperty('invocationInterface');
      expect((await read('bob', hidden.agentId)).status).toBe(404);
      await world.forbid('bob', 'view', seen);
      expect((await read('bob', seen.agentId)).status).toBe(404);
      expect(await world.listed('bob')).toEqual([called.agentId]);
      await world.forbid('bob', 'invoke', called);
      expect((await read('bob', called.agentId)).json).not.toHaveProperty('invocationInterface');
      await world.allow('bob', 'view', hidden);
      expect(await world.listed('bob')).toEqual([called.agentId, hidden.agentId].toSorted());
    },
  );

  verifies(
    [
      'catalogue:invocation:version-not-ready',
      'catalogue:invocation:relations-inconsistent',
      'catalogue:invocation:route-not-accepted',
    ],
    'an agent whose version, rights or route are not in force is shown without its interface',
    async () => {
      const agents = [
        await world.publish('unready', { isReady: false }),
        await world.publish('inconsistent', { isConsistent: false }),
        await world.publish('unrouted', { isRouted: false }),
        await world.publish('confirmed-only', { modes: ['mcp_tool'], cardReason: 'NoCard', exposure: 'R1' }),
        await world.publish('without-tls', { publicUrl: 'http://agents.example' }),
        await world.publish('open'),
      ];
      await world.allow('eve', 'view', ...agents);
      await world.allow('eve', 'invoke', ...agents);
      const { json } = await world.ask('eve', '/api/v1/agents');
      const items = json['items'] as readonly { readonly name: string; readonly invocationInterface?: unknown }[];
      const shown = items.map(({ name, invocationInterface }) => [name, invocationInterface !== undefined]);
      expect(Object.fromEntries(shown)).toEqual({
        'Agent unready': false,
        'Agent inconsistent': false,
        'Agent unrouted': false,
        'Agent confirmed-only': false,
        'Agent without-tls': false,
        'Agent open': true,
      });
      const hasInterface = async (): Promise<boolean> => {
        const { json: open } = await world.ask('eve', `/api/v1/agents/${agents.at(-1)?.agentId}`);
        return open['invocationInterface'] !== undefined;
      };
      // The rights of the newest spec are not stored before the operator has observed it.
      world.resources.change('agents', 'open', ({ metadata }) => Object.assign(metadata, { generation: 2 }));
      await until('the interface is gone', async () => !(await hasInterface()));
      world.resources.change('agents', 'open', (object) => {
        const { conditions, ...rest } = object['status'] as { readonly conditions: readonly object[] };
        object['status'] = { ...rest, conditions: conditions.map((one) => ({ ...one, observedGeneration: 2 })) };
      });
      await until('the interface is back', hasInterface);
    },
  );

  verifies(
    ['catalogue:get:hidden-same-404', 'catalogue:error:not-found', 'catalogue:error:body'],
    'a hidden, a degraded and a missing agent are answered with the same 404',
    async () => {
      const hidden = await world.publish('secret');
      const degraded = await world.publish('broken', { isServed: false });
      await world.allow('fay', 'view', degraded);
      const shapeOf = async (id: string) => {
        const { status, headers, json } = await world.ask('fay', `/api/v1/agents/${id}`);
        const { traceId: _, ...error } = json['error'] as Record<string, unknown>;
        return { status, error, headers: [...headers.keys()] };
      };
      const missing = await shapeOf('01890a5d-ac96-774b-bcce-b302099a80ff');
      expect(missing).toMatchObject({ status: 404, error: { code: 'not_found', details: [] } });
      expect(await shapeOf(hidden.agentId)).toEqual(missing);
      expect(await shapeOf(degraded.agentId)).toEqual(missing);
      expect(await shapeOf('no-uuid')).toEqual(missing);
    },
  );

  verifies(
    ['catalogue:version:later-plan', 'catalogue:base-path:api-v1', 'catalogue:version:base-path'],
    'both versions of the API return the same record',
    async () => {
      const agent = await world.publish('twice');
      await world.allow('gil', 'view', agent);
      const [first, second] = await Promise.all(
        ['v1', 'v2'].map(async (version) => (await world.ask('gil', `/api/${version}/agents/${agent.agentId}`)).json),
      );
      expect(first).toMatchObject({ agentId: agent.agentId });
      expect(second).toEqual(first);
      expect((await world.ask('gil', `/agents/${agent.agentId}`)).status).toBe(404);
      expect((await world.ask('gil', '/api/v1/health/live')).status).toBe(404);
    },
  );

  verifies(
    [
      'catalogue:surface:no-create',
      'catalogue:surface:no-change',
      'catalogue:surface:no-delete',
      'catalogue:surface:no-deploy',
      'catalogue:surface:no-invoke',
      'catalogue:surface:observed-agents',
    ],
    'no request creates, changes, deletes, deploys or invokes an agent',
    async () => {
      const agent = await world.publish('steady');
      await world.allow('hal', 'view', agent);
      await world.allow('hal', 'invoke', agent);
      const path = `/api/v1/agents/${agent.agentId}`;
      const before = (await world.ask('hal', path)).json;
      const body = JSON.stringify({ ...before, name: 'Another' });
      const headers = { 'content-type': 'application/json' };
      const unknown = '/api/v1/agents/01890a5d-ac96-774b-bcce-b302099a80fe';
      for (const [method, target, status] of [
        ['POST', '/api/v1/agents', 405],
        ['PUT', unknown, 405],
        ['PUT', path, 405],
        ['PATCH', path, 405],
        ['DELETE', path, 405],
        ['POST', path, 405],
        ['POST', `${path}/deploy`, 404],
        ['POST', `${path}/message:send`, 404],
        ['POST', `${path}/invoke`, 404],
        ['POST', `${path}/mcp`, 404],
      ] as const) {
        const sent = method === 'DELETE' ? { method } : { method, body, headers };
        expect([method, target, (await world.ask('hal', target, sent)).status]).toEqual([method, target, status]);
      }
      expect((await world.ask('hal', path)).json).toEqual(before);
      expect((await world.ask('hal', unknown)).status).toBe(404);
      expect(await world.listed('hal')).toEqual([agent.agentId]);
    },
  );

  test('readiness and liveness are served without a token', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      const answer = await fetch(`${world.url}${path}`);
      expect([path, answer.status, await answer.json()]).toEqual([path, 200, { status: 'ok' }]);
    }
  });
});
