import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createTestKey, signText } from '#identity/testing/test-issuer';
import { until } from '#kit/testing/until';
import { RelationsUnavailableError } from '#relations/ports';
import { SqlUnavailableError } from '#sql/connect';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

describe.skipIf(missingPostgres !== undefined)(onPostgres('errors of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  /** While `fault` is set, every question about rights fails with this error or waits for it. */
  const rights = { fault: undefined as Error | undefined, gate: Promise.resolve() as Promise<unknown>, asked: 0 };
  let world: CatalogueWorld;
  let agent: AgentSketch;
  const searchInit = (body: object = { query: 'secret-words', workspaceId: 'support' }): RequestInit => ({
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', traceparent },
  });
  const operations: readonly (readonly [string, RequestInit])[] = [
    ['/api/v1/agents', { headers: { traceparent } }],
    ['/api/v1/agents/01890a5d-ac96-774b-bcce-b302099a80ff', { headers: { traceparent } }],
    ['/api/v1/agents/search', searchInit()],
  ];
  const codeOf = ({ status, json }: Awaited<ReturnType<CatalogueWorld['ask']>>) => [
    status,
    (json['error'] as { readonly code?: string } | undefined)?.code,
  ];

  beforeAll(async () => {
    const held: { relations?: CatalogueWorld['relations'] } = {};
    const through = async <T>(ask: (store: CatalogueWorld['relations']) => Promise<T>): Promise<T> => {
      rights.asked += 1;
      await rights.gate;
      if (rights.fault !== undefined) throw rights.fault;
      if (held.relations === undefined) throw new RelationsUnavailableError();
      return await ask(held.relations);
    };
    world = parts.use(
      await openCatalogue({
        config: { requests: { atOnce: 2, perMinute: 60 } },
        overrides: {
          // The clock of the limits does not advance.
          clock: { now: () => 0, date: () => new Date() },
          relations: {
            nextObjects: (...question) => through((store) => store.nextObjects(...question)),
            checkEach: (...question) => through((store) => store.checkEach(...question)),
          },
        },
      }),
    );
    held.relations = world.relations;
    agent = await world.publish('known');
    await world.allow('ann', 'view', agent);
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    ['catalogue:auth:oidc-jwt', 'catalogue:error:unauthenticated', 'catalogue:error-leak:token'],
    'a missing, malformed, expired or wrongly signed token is refused with 401 and not repeated',
    async () => {
      const now = Math.floor(Date.now() / 1_000);
      const other = await createTestKey('ES256', 'people-1');
      const claims = { iss: 'https://people.example', aud: 'catalogue', sub: 'ann', exp: now + 600 };
      const tokens = [
        'a.b.c',
        await world.token('ann', { exp: now - 60 }),
        await world.token('ann', { aud: 'other' }),
        await world.token('ann', { iss: 'https://other.example' }),
        await signText(other, JSON.stringify(claims)),
        `${await world.token('ann')}x`,
      ];
      for (const [path, init] of operations) {
        for (const token of tokens) {
          const answer = await world.ask(token, path, init);
          expect([path, ...codeOf(answer)]).toEqual([path, 401, 'unauthenticated']);
          expect(answer.text).not.toContain(token);
        }
        const bare = await fetch(`${world.url}${path}`, init);
        expect([path, bare.status, bare.headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer']);
      }
    },
  );

  verifies(
    ['catalogue:trace:w3c-context', 'catalogue:trace:trace-id-in-answer', 'catalogue:error:body'],
    'every answer has the trace id of the request, in a header and in the body of an error',
    async () => {
      for (const [path, init] of operations) {
        const { headers, json } = await world.ask('ann', path, init);
        expect([path, headers.get('traceparent')?.split('-')[1]]).toEqual([path, traceId]);
        const error = json['error'] as object | undefined;
        if (error !== undefined)
          expect(error).toMatchObject({ code: expect.any(String), message: expect.any(String), traceId, details: [] });
      }
      const made = await world.ask('ann', '/api/v1/agents');
      expect(made.headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    },
  );

  verifies(
    ['catalogue:caller:no-user-identifier', 'catalogue:caller:no-access-decision'],
    'a user or a decision that is sent with a request is ignored or refused',
    async () => {
      const headers = { 'x-user-id': 'ann', 'x-groups': 'admins', 'x-agent-id': 'ann', 'x-roles': 'admin' };
      expect((await world.ask('bob', '/api/v1/agents', { headers })).json).toEqual({ items: [], nextCursor: null });
      expect((await world.ask('bob', `/api/v1/agents/${agent.agentId}`, { headers })).status).toBe(404);
      for (const query of ['userId=ann', 'sub=ann', 'roles=admin', 'access=view', 'allow=true']) {
        expect([query, ...codeOf(await world.ask('bob', `/api/v1/agents?${query}`))]).toEqual([
          query,
          400,
          'invalid_request',
        ]);
        const one = await world.ask('bob', `/api/v1/agents/${agent.agentId}?${query}`);
        expect([query, ...codeOf(one)]).toEqual([query, 400, 'invalid_request']);
      }
      const groups = await world.token('bob', { tenants: ['acme'], groups: ['readers'] });
      await world.relations.grant([
        { subject: 'group:acme/readers#member', relation: 'view', object: `agent:${agent.agentId}` },
      ]);
      expect((await world.ask(groups, `/api/v1/agents/${agent.agentId}`)).status).toBe(200);
      const acting = await world.token('ann', { act: { sub: 'helper' } });
      expect((await world.ask(acting, `/api/v1/agents/${agent.agentId}`)).status).toBe(404);
      await world.relations.grant([
        { subject: 'agent:https%3A//people.example|helper', relation: 'view', object: `agent:${agent.agentId}` },
      ]);
      expect((await world.ask(acting, `/api/v1/agents/${agent.agentId}`)).status).toBe(200);
    },
  );

  verifies(
    ['catalogue:error:forbidden'],
    'a request for a tenant that the token does not have is refused with 403',
    async () => {
      const token = await world.token('cleo', { tenants: ['acme'] });
      const asked = (tenant: string) => world.ask(token, '/api/v1/agents', { headers: { 'x-tenant-id': tenant } });
      expect(codeOf(await asked('other'))).toEqual([403, 'forbidden']);
      expect((await asked('acme')).status).toBe(200);
    },
  );

  verifies(
    [
      'catalogue:error-code:authorization-unavailable',
      'catalogue:error:unavailable',
      'catalogue:error-leak:internal-url',
    ],
    'without the store of rights list, get and search are refused with 503',
    async () => {
      rights.fault = new RelationsUnavailableError(new Error('connect http://10.0.0.1:8080'));
      for (const [at, [path, init]] of operations.entries()) {
        const answer = await world.ask(`person-${at}`, path, init);
        expect([path, ...codeOf(answer)]).toEqual([path, 503, 'authorization_unavailable']);
        expect(answer.text).not.toContain('10.0.0.1');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
      rights.fault = undefined;
    },
  );

  verifies(
    [
      'catalogue:error:timeout',
      'catalogue:error:unexpected',
      'catalogue:error-leak:stack',
      'catalogue:error-leak:card-text',
      'catalogue:error-leak:forbidden-candidate',
    ],
    'a late dependency is 504 and a defect is 500, with messages that repeat no text',
    async () => {
      for (const [fault, status, code] of [
        [new SqlUnavailableError('ANSWER_TIMEOUT'), 504, 'dependency_timeout'],
        [new SqlUnavailableError('ECONNREFUSED'), 503, 'database_unavailable'],
        [new Error(`known ${agent.agentId} Answers questions`), 500, 'internal'],
      ] as const) {
        rights.fault = fault;
        for (const [path, init] of operations) {
          const answer = await world.ask(`dan-${code}`, path, init);
          expect([path, ...codeOf(answer)]).toEqual([path, status, code]);
          for (const inside of ['known', agent.agentId, 'Answers', 'secret-words', '.ts:', 'Error', 'ECONN']) {
            expect([inside, answer.text.includes(inside)]).toEqual([inside, false]);
          }
        }
      }
      rights.fault = undefined;
    },
  );

  verifies(
    ['catalogue:error:too-many'],
    'more requests of one caller than allowed at a time or in a minute are refused with 429, others are served',
    async () => {
      const before = rights.asked;
      const gate = Promise.withResolvers<unknown>();
      rights.gate = gate.promise;
      const waiting = [world.ask('eve', '/api/v1/agents'), world.ask('eve', '/api/v1/agents')];
      // Each request is sent with and without the group of every caller.
      await until('both requests wait for their rights', () => rights.asked >= before + 4);
      expect(codeOf(await world.ask('eve', '/api/v1/agents'))).toEqual([429, 'rate_limited']);
      gate.resolve(undefined);
      rights.gate = Promise.resolve();
      for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
      const statuses: number[] = [];
      for (let sent = 0; sent < 61; sent += 1) statuses.push((await world.ask('fay', '/api/v1/agents')).status);
      expect(statuses.slice(0, 60).every((status) => status === 200)).toBe(true);
      expect(statuses[60]).toBe(429);
      expect((await world.ask('gil', '/api/v1/agents')).status).toBe(200);
    },
  );

  verifies(
    ['catalogue:error:conflict'],
    'an agent whose id two resources claim is answered with 409 to a caller who may view it, and is not listed',
    async () => {
      const first = await world.publish('claimed');
      await world.allow('hal', 'view', first);
      const second = await world.publish('claiming');
      world.resources.change('agents', 'claiming', (object) => {
        object['status'] = { ...(object['status'] as object), agentId: first.agentId };
      });
      await until(
        'the agent is contested',
        async () => (await world.ask('hal', `/api/v1/agents/${first.agentId}`)).status === 409,
      );
      expect(codeOf(await world.ask('hal', `/api/v1/agents/${first.agentId}`))).toEqual([409, 'identity_conflict']);
      expect((await world.ask('ida', `/api/v1/agents/${first.agentId}`)).status).toBe(404);
      expect(await world.listed('hal')).toEqual([]);
      expect(second.agentId).not.toBe(first.agentId);
      world.resources.remove('agents', 'claiming');
      await until('the agent is shown again', async () => (await world.listed('hal')).length === 1);
    },
  );

  verifies(
    ['catalogue:health:live', 'catalogue:health:ready'],
    'liveness and readiness require neither a token nor rights',
    async () => {
      rights.fault = new RelationsUnavailableError();
      for (const path of ['/health/live', '/health/ready']) {
        const answer = await fetch(`${world.url}${path}`);
        expect([path, answer.status, await answer.json()]).toEqual([path, 200, { status: 'ok' }]);
      }
      rights.fault = undefined;
    },
  );
});
