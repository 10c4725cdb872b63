import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantIssuer } from '#identity/authorize-callers';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { userSubject } from '#relations/subject';
import { authenticatedAll } from '#relations/tenant-object';
import { startCountingProxy } from '#sql/testing/counting-proxy';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { createCatalogueService } from '../service.ts';
import type { AgentSketch } from '../testing/agent-resources.ts';
import { startCatalogue } from '../testing/start-catalogue.ts';

const missing = '01890a5d-ac96-774b-bcce-b302099a80ff';
/** This name has the same length as the workspace `hidden`, so that requests have equal sizes. */
const missingWorkspace = 'absent';
const headers = { 'x-user-id': 'bob', 'x-tenant-id': 'acme' };
const bob = userSubject({ issuer: tenantIssuer('acme'), subject: 'bob' });

describe.skipIf(missingPostgres !== undefined)(onPostgres('the work for a hidden agent'), () => {
  const parts = new AsyncDisposableStack();
  let agents: Readonly<Record<'hidden' | 'tool' | 'degraded' | 'seen', AgentSketch>>;
  let exchangedFor: (path: string, body?: object) => Promise<object>;

  beforeAll(async () => {
    const files = parts.use(await openTestDatabase());
    const world = parts.use(await startCatalogue(files));
    const [hidden, tool, degraded, seen] = await Promise.all([
      world.publish('hidden', { workspace: 'hidden', description: 'Salaries. '.repeat(400) }),
      world.publish('tool', { workspace: 'hidden', modes: ['mcp_tool'], cardReason: 'NoCard' }),
      world.publish('degraded', { isServed: false }),
      world.publish('seen'),
    ]);
    agents = { hidden, tool, degraded, seen };
    const teams = Array.from({ length: 50 }, (_one, at) => `group:acme/${at}#member`);
    const rights = ['view', 'invoke'];
    const both = (subject: string, { agentId }: AgentSketch) =>
      rights.map((relation) => ({ subject, relation, object: `agent:${agentId}` }));
    await world.relations.grant(teams.flatMap((team) => both(team, hidden)));
    await world.relations.grant([
      ...both(bob, seen),
      ...both(bob, degraded),
      // The group of every caller has no rights on agents over MCP.
      ...both(`${authenticatedAll}#member`, tool),
    ]);
    const proxy = parts.use(await startCountingProxy(files.url));
    const modelsFile = join(parts.use(temporaryFolder()).path, 'models.yaml');
    writeFileSync(modelsFile, 'embedding: []\n');
    const listen = { host: '127.0.0.1', port: 0 };
    // A replica of the API without a worker sends statements for requests only, and every 5 s one statement that checks
    // for lost tables.
    const { url } = parts.use(
      await createCatalogueService(
        {
          ...{ listen, adminListen: listen, role: 'api', identity: { mode: 'development' } },
          ...{ databaseUrl: proxy.url, relations: { kind: 'postgres' }, api: undefined, modelsFile },
          ...{ modelGateway: new URL('http://127.0.0.1:9'), embeddingProfile: undefined, indexBytes: 64 * 1_048_576 },
          ...{ requests: { atOnce: 100, perMinute: 1_000_000 }, events: undefined, massRemoval: 'pause' },
          traces: undefined,
          ...{ guard: 'unguarded', logLevel: 'error' },
        },
        {
          ...{ databasePasswordFile: files.passwordFile, cursorKeyFile: world.cursorKeyFile },
          ...{ openFgaTokenFile: undefined, modelGatewayTokenFile: undefined },
        },
      ),
    );
    const exchange = async (path: string, body?: object): Promise<object> => {
      proxy.take();
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${url}${path}`, {
        ...init,
        headers: { ...headers, 'content-type': 'application/json' },
      });
      const text = (await answer.text()).replace(/"traceId":"[0-9a-f]+"/, '');
      return { status: answer.status, text, ...proxy.take() };
    };
    exchangedFor = async (path, body) => {
      let last = await exchange(path, body);
      return until('two equal exchanges', async () => {
        const [before, next] = [last, await exchange(path, body)];
        last = next;
        return isDeepStrictEqual(before, next) ? next : undefined;
      });
    };
  });
  afterAll(() => parts.disposeAsync());

  test.each(['v1', 'v2'])(
    'reads of hidden and missing agents in %s have equal statements and rows',
    async (version) => {
      const read = (id: string) => exchangedFor(`/api/${version}/agents/${id}`);
      const expected = await read(missing);
      expect(expected).toMatchObject({ status: 404, statements: expect.any(Number) });
      expect(await read(agents.hidden.agentId)).toEqual(expected);
      // The caller has a right on these: the store names the id, and a parameter of the next statement does.
      const named = { parameterBytes: expect.any(Number), rowBytes: expect.any(Number) };
      for (const { agentId } of [agents.tool, agents.degraded]) {
        expect(await read(agentId)).toEqual({ ...expected, ...named });
      }
      expect(await read(agents.seen.agentId)).toMatchObject({ status: 200 });
    },
  );

  test('searches in a workspace of hidden agents and in a missing one have equal statements and rows', async () => {
    const search = (workspaceId: string) => exchangedFor('/api/v1/agents/search', { query: 'questions', workspaceId });
    expect(await search('support')).toMatchObject({ status: 200, text: expect.stringContaining(agents.seen.agentId) });
    const expected = await search(missingWorkspace);
    expect(expected).toMatchObject({ status: 200, text: '{"matches":[]}' });
    expect(await search('hidden')).toEqual(expected);
  });

  test('lists with filters that only hidden agents match have the work of lists that no agent matches', async () => {
    const list = (workspaceId: string) => exchangedFor(`/api/v1/agents?workspaceId=${workspaceId}`);
    const expected = await list(missingWorkspace);
    expect(expected).toMatchObject({ status: 200, text: '{"items":[],"nextCursor":null}' });
    expect(await list('hidden')).toEqual(expected);
  });
});
