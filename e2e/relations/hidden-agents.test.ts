import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import type { Relations } from '#relations/ports';
import type { Database } from '#sql/connect';
import { missingPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { AgentSketch } from '../../dataplane/catalogue/testing/agent-resources.ts';
import { type CatalogueWorld, startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import {
  type AgentPlaneWorld,
  agentId as routedAgent,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { missingOpenFga, onOpenFga, startOpenFga } from './openfga-server.ts';

const missing = '01890a5d-ac96-774b-bcce-b302099a80ff';
const groups = 25;

describe.skipIf((missingPostgres ?? missingOpenFga) !== undefined)(onOpenFga('questions about a hidden agent'), () => {
  const parts = new AsyncDisposableStack();
  /** Forwards to OpenFGA and keeps each request. */
  let recorder: ScriptedHttp;
  let relations: Relations;
  let world: CatalogueWorld;
  let plane: AgentPlaneWorld;
  let hidden: AgentSketch;

  beforeAll(async () => {
    const openFga = parts.use(await startOpenFga());
    recorder = parts.use(
      await startScriptedHttp(async (response, { method, path, text }) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(new URL(path, openFga.url), {
          method,
          headers,
          ...(text === '' ? {} : { body: text }),
        });
        response.writeHead(answer.status, headers).end(await answer.text());
      }),
    );
    const openRights = async (database: Database) => {
      const stores = await openStoreRegistry(database);
      relations = await openOpenFgaRelations({ url: new URL(recorder.url), storeName: 'hidden', stores });
      return relations;
    };
    world = parts.use(await startCatalogue(parts.use(await openTestDatabase()), { openRights }));
    hidden = await world.publish('hidden');
    await world.allow('bob', 'view', await world.publish('seen'));
    const teams = Array.from({ length: groups }, (_one, at) => `group:acme/${at}#member`);
    await relations.grant(
      [hidden.agentId, routedAgent].flatMap((id) =>
        teams.flatMap((subject) =>
          ['view', 'invoke'].map((relation) => ({ subject, relation, object: `agent:${id}` })),
        ),
      ),
    );
    plane = parts.use(await startAgentPlane(undefined, [], undefined, relations));
    await plane.serve({ versions: [routedVersion(await plane.startProcess())] });
  });
  afterAll(() => parts.disposeAsync());

  /** The requests to OpenFGA while one request about an agent is answered with 404, in no order, without the id. */
  const questionsAbout = async (id: string, ask: () => Promise<{ readonly status: number }>) => {
    recorder.forget();
    expect((await ask()).status).toBe(404);
    return recorder.seen.map(({ method, path, text }) => `${method} ${path} ${text.replaceAll(id, 'ID')}`).toSorted();
  };

  test('a read of the catalogue asks OpenFGA the same about a hidden agent and about a missing one', async () => {
    const about = (id: string) => questionsAbout(id, () => world.ask('bob', `/api/v1/agents/${id}`));
    const expected = await about(missing);
    expect(expected.length).toBeGreaterThan(0);
    expect(await about(hidden.agentId)).toEqual(expected);
    // From the side of the caller: no question has the id, so that the server does not know which one is asked about.
    expect(expected.join('\n')).not.toContain('ID');
  });

  test.each(['/mcp', '/message:send'])(
    'a call of %s asks OpenFGA the same about a hidden agent and about a missing one',
    async (path) => {
      const token = await plane.personToken('bob');
      const about = (id: string) => questionsAbout(id, () => plane.call(`/agents/${id}${path}`, { token, body: '{}' }));
      const expected = await about(missing);
      expect(expected.length).toBeGreaterThan(0);
      expect(await about(routedAgent)).toEqual(expected);
    },
  );
});
