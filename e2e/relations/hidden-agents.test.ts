import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry } from '#relations/adapters/openfga/store-registry';
import type { Relations } from '#relations/ports';
import { userSubject } from '#relations/subject';
import type { Database } from '#sql/connect';
import { missingPostgres, openTestDatabase } from '#sql/testing/test-database';
import type { AgentSketch } from '../../dataplane/catalogue/testing/agent-resources.ts';
import { type CatalogueWorld, startCatalogue } from '../../dataplane/catalogue/testing/start-catalogue.ts';
import {
  type AgentPlaneWorld,
  peopleIssuer,
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
  /** The answers of OpenFGA since `recorder` forgot its requests. */
  const answered: string[] = [];
  let openBounded: (mostReached: number) => Promise<Relations>;
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
        const body = await answer.text();
        answered.push(body);
        response.writeHead(answer.status, headers).end(body);
      }),
    );
    const openRights = async (database: Database) => {
      const stores = await openStoreRegistry(database);
      const place = { url: new URL(recorder.url), storeName: 'hidden', stores };
      openBounded = (mostReached) => openOpenFgaRelations({ ...place, mostReached });
      relations = await openOpenFgaRelations(place);
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

  /**
   * The requests to OpenFGA and its answers while one request about an agent is answered with 404, in no particular
   * order, without the id.
   */
  const questionsAbout = async (id: string, ask: () => Promise<{ readonly status: number }>) => {
    recorder.forget();
    answered.length = 0;
    expect((await ask()).status).toBe(404);
    const asked = recorder.seen.map(({ method, path, text }) => `${method} ${path} ${text.replaceAll(id, 'ID')}`);
    return { asked: asked.toSorted(), answered: answered.toSorted() };
  };

  test('a read of the catalogue sends the same questions to OpenFGA for a hidden agent and for a missing one', async () => {
    const about = (id: string) => questionsAbout(id, () => world.ask('bob', `/api/v1/agents/${id}`));
    const expected = await about(missing);
    expect(expected.asked.length).toBeGreaterThan(0);
    expect(await about(hidden.agentId)).toEqual(expected);
    // The questions start from the side of the caller: none contains the id, so that the server cannot tell which agent
    // is meant.
    expect(expected.asked.join('\n')).not.toContain('ID');
  });

  test.each(['/mcp', '/message:send'])(
    'a call of %s sends the same questions to OpenFGA for a hidden agent and for a missing one, for tuples of the caller and its groups only',
    async (path) => {
      const token = await plane.personToken('bob', { tenants: ['acme'] });
      const about = (id: string) => questionsAbout(id, () => plane.call(`/agents/${id}${path}`, { token, body: '{}' }));
      const expected = await about(missing);
      expect(await about(routedAgent)).toEqual(expected);
      const withId = expected.asked.filter((one) => one.includes('ID'));
      expect(withId.length).toBeGreaterThan(0);
      // A check would make the server walk from the agent to the groups that have a right on it.
      for (const one of withId)
        expect(one).toMatch(/^POST \/stores\/\w+\/read .*"user":"(user:|group:authenticated_all#member)/);
      expect(withId.filter((one) => !one.includes('"relation":'))).toEqual([]);
    },
  );

  test('a refused call reads the groups of its caller once, for both rights', async () => {
    const teams = ['group:acme/reader', 'group:acme/outer'];
    const person = userSubject({ issuer: peopleIssuer, subject: 'carl' });
    await relations.grant([
      { subject: person, relation: 'member', object: teams[0] ?? '' },
      { subject: `${teams[0]}#member`, relation: 'member', object: teams[1] ?? '' },
    ]);
    const token = await plane.personToken('carl', { tenants: ['acme'] });
    const { asked } = await questionsAbout(missing, () => plane.call(`/agents/${missing}/mcp`, { token, body: '{}' }));
    const walked = asked.filter((one) => !one.includes('"relation":'));
    expect(walked.filter((one) => one.includes(`"${teams[0]}#member"`))).toHaveLength(1);
    expect(new Set(walked).size).toBe(walked.length);
    const lookedUp = asked.filter((one) => one.includes('"relation":') && one.includes(`"${teams[1]}#member"`));
    expect(lookedUp).toHaveLength(2);
  });

  test('a check follows 1,000 groups of a caller, and the server answers for a caller with more', async () => {
    const person = 'user:emil';
    const join = (from: number, to: number) =>
      relations.grant(
        Array.from({ length: to - from }, (_one, at) => ({
          subject: person,
          relation: 'member',
          object: `group:acme/many-${from + at}`,
        })),
      );
    for (let at = 0; at < 1_000; at += 100) await join(at, at + 100);
    const granted = 'agent:01890a5d-ac96-774b-bcce-b302099a80ab';
    await relations.grant([{ subject: 'group:acme/many-999#member', relation: 'view', object: granted }]);
    const checksOf = async () => {
      recorder.forget();
      const check = relations.checkerOf(person);
      const answers = [await check('view', granted), await check('invoke', granted)];
      expect(answers).toEqual([true, false]);
      const requests = recorder.seen.map(({ path }) => path);
      return { checks: requests.filter((path) => path.endsWith('/check')).length, requests: requests.length };
    };
    const within = await checksOf();
    expect(within.checks).toBe(0);
    await join(1_000, 1_001);
    const beyond = await checksOf();
    expect(beyond.checks).toBe(2);
    expect(beyond.requests).toBeLessThan(within.requests);
  });

  test('a caller with more groups than one question follows is answered by a check of the server', async () => {
    const person = 'user:dora';
    const teams = ['group:acme/a', 'group:acme/b', 'group:acme/c'];
    const granted = 'agent:01890a5d-ac96-774b-bcce-b302099a80aa';
    await relations.grant([
      ...teams.slice(0, 2).map((object) => ({ subject: person, relation: 'member', object })),
      { subject: `${teams[1]}#member`, relation: 'member', object: teams[2] ?? '' },
      { subject: `${teams[2]}#member`, relation: 'view', object: granted },
    ]);
    for (const { most, checks } of [
      { most: 3, checks: 0 },
      { most: 2, checks: 2 },
    ]) {
      const bounded = await openBounded(most);
      recorder.forget();
      const answers = [
        await bounded.check(person, 'view', granted),
        await bounded.check(person, 'view', `agent:${missing}`),
      ];
      const atServer = recorder.seen.filter(({ path }) => path.endsWith('/check'));
      expect([most, answers, atServer.length]).toEqual([most, [true, false], checks]);
    }
  });
});
