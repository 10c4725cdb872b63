import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type AgentSketch, resourcesOf, sketchAgent } from '../testing/agent-resources.ts';
import { type CatalogueWorld, openCatalogue } from '../testing/open-catalogue.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the feed of the catalogue'), () => {
  const parts = new AsyncDisposableStack();
  let world: CatalogueWorld;
  const time = { offset: 0 };
  const stateIs = (agent: AgentSketch, state: string) =>
    until(`${agent.name} is ${state}`, async () => (await world.stored(agent)) === state);
  const editVersion = (agent: AgentSketch, change: Partial<AgentSketch>) =>
    world.resources.change('agentversions', `${agent.name}-1`, (object) => {
      object['status'] = resourcesOf({ ...agent, ...change }).version.status;
    });

  /** The operator's status of a version that was deleted a minute ago while its agent serves it. */
  const editDeleted = (agent: AgentSketch, unreadyReason: string) => {
    const since = new Date(Date.now() - 60_000);
    world.resources.change('agentversions', `${agent.name}-1`, (object) => {
      object.metadata['deletionTimestamp'] = since.toISOString();
      object['status'] = resourcesOf({ ...agent, isReady: false, unreadyReason, since }).version.status;
    });
  };

  /** The events of an agent that is served and active. */
  const begun = ['agent.version.selected', 'agent.activated'];
  const eventsOf = async ({ agentId }: AgentSketch) => {
    const rows = await world.database.sql<{ type: string }[]>`
      select type from catalogue.outbox where agent_id = ${agentId}::uuid order by event_no`;
    return rows.map(({ type }) => type);
  };

  const create = async (plural: string, object: object) => {
    const url = `${world.resources.url}/apis/portcullis.dev/v1alpha1/namespaces/default/${plural}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(object) });
    expect(answer.status).toBe(201);
  };

  beforeAll(async () => {
    const clock = { now: () => performance.now(), date: () => new Date(Date.now() + time.offset) };
    world = parts.use(await openCatalogue({ overrides: { clock } }));
  });
  afterAll(() => parts.disposeAsync());

  verifies(
    [
      'catalogue:state:active',
      'catalogue:state:degraded-hidden',
      'catalogue:state:degraded-not-invocable',
      'catalogue:list:only-active',
      'catalogue:filter:state',
    ],
    'an agent whose process has been unavailable for more than 30 seconds is hidden until it is ready again',
    async () => {
      const agent = await world.publish('comes-and-goes');
      await world.allow('ann', 'view', agent);
      await world.allow('ann', 'invoke', agent);
      expect(await world.stored(agent)).toBe('active');
      editVersion(agent, { isReady: false, cardReason: 'NotRunning', since: new Date() });
      await until('the interface is gone', async () => {
        const { json } = await world.ask('ann', `/api/v1/agents/${agent.agentId}`);
        return json['state'] === 'active' && json['invocationInterface'] === undefined;
      });
      time.offset = 29_000;
      expect(await world.listed('ann')).toEqual([agent.agentId]);
      time.offset = 31_000;
      await stateIs(agent, 'degraded');
      expect(await world.listed('ann')).toEqual([]);
      expect(await world.listed('ann', '?state=degraded')).toEqual([]);
      expect((await world.ask('ann', `/api/v1/agents/${agent.agentId}`)).status).toBe(404);
      editVersion(agent, { isReady: true });
      await stateIs(agent, 'active');
      time.offset = 0;
      expect(await world.listed('ann', '?state=active')).toEqual([agent.agentId]);
    },
  );

  verifies(
    ['catalogue:state:active', 'catalogue:state:degraded-hidden'],
    'a version that is deleted while its agent serves it stays active with its interface, and is degraded 30 seconds after its process was lost',
    async () => {
      const agent = await world.publish('served-and-deleted');
      await world.allow('gus', 'view', agent);
      await world.allow('gus', 'invoke', agent);
      const shown = async () => (await world.ask('gus', `/api/v1/agents/${agent.agentId}`)).json;
      const before = await shown();
      expect(before).toHaveProperty('invocationInterface');
      editDeleted(agent, 'Routed');
      // The feed handles changes in their order: the deletion is stored when a later agent is.
      await world.publish('after-the-deletion');
      expect(await shown()).toEqual(before);
      expect(await world.listed('gus')).toEqual([agent.agentId]);
      expect(await eventsOf(agent)).toEqual(begun);
      const isCallable = async () => (await shown())['invocationInterface'] !== undefined;
      editDeleted(agent, 'ProcessEnded');
      await until('the interface is gone', async () => !(await isCallable()));
      expect(await world.stored(agent)).toBe('active');
      editDeleted(agent, 'Routed');
      await until('the interface is back', isCallable);
      editDeleted(agent, 'ProcessEnded');
      await until('the interface is gone', async () => !(await isCallable()));
      time.offset = 31_000;
      await stateIs(agent, 'degraded');
      expect(await world.listed('gus')).toEqual([]);
      editDeleted(agent, 'Routed');
      await stateIs(agent, 'active');
      time.offset = 0;
      expect(await eventsOf(agent)).toEqual([...begun, 'agent.degraded', 'agent.activated']);
    },
  );

  verifies(
    ['catalogue:state:active', 'catalogue:state:degraded-hidden'],
    'an agent that is reported before its version is active, and one whose version was deleted is degraded',
    async () => {
      const since = new Date(Date.now() - 60_000);
      const trial = await world.publish('on-trial', { isServed: false, isReady: false, since });
      world.resources.fallBehind('agentversions');
      const unknown = await world.publish('ahead-of-its-version');
      const served = { ...trial, isServed: true, isReady: true };
      editVersion(trial, served);
      world.resources.change('agents', trial.name, (object) => {
        object['status'] = resourcesOf(served).agent.status;
      });
      await stateIs(trial, 'active');
      expect(await world.stored(unknown)).toBe('active');
      world.resources.remove('agentversions', `${unknown.name}-1`);
      world.resources.catchUp('agentversions');
      await stateIs(unknown, 'degraded');
      expect(await eventsOf(unknown)).toEqual([...begun, 'agent.degraded']);
      expect((await eventsOf(trial)).slice(-2)).toEqual(begun);
    },
  );

  verifies(
    ['catalogue:state:removed', 'catalogue:record:state-values'],
    'a deleted agent is removed once the server confirms it, and is shown to callers who request that state',
    async () => {
      const agent = await world.publish('deleted');
      await world.allow('bob', 'view', agent);
      const before = world.resources.seen.length;
      world.resources.remove('agents', 'deleted');
      await stateIs(agent, 'removed');
      const asked = world.resources.seen.slice(before);
      expect(asked).toContain('GET /apis/portcullis.dev/v1alpha1/namespaces/default/agents/deleted');
      expect(await world.listed('bob')).toEqual([]);
      expect(await world.listed('bob', '?state=removed')).toEqual([agent.agentId]);
      expect(await world.listed('cleo', '?state=removed')).toEqual([]);
      const { json } = await world.ask('bob', `/api/v1/agents/${agent.agentId}`);
      expect(json).toMatchObject({ state: 'removed', versionId: agent.versionId });
      expect(json).not.toHaveProperty('invocationInterface');
    },
  );

  verifies(
    ['catalogue:state:rejected', 'catalogue:record:skills'],
    'a version whose card differs is rejected if none was ever served, and is never shown as active',
    async () => {
      const agent = await world.publish('impostor', { isServed: false, isReady: false, cardReason: 'CardDiffers' });
      await world.allow('dan', 'view', agent);
      await stateIs(agent, 'rejected');
      expect(await world.listed('dan')).toEqual([]);
      expect(await world.listed('dan', '?state=rejected')).toEqual([agent.agentId]);
      // Only verified skills are shown.
      expect((await world.ask('dan', `/api/v1/agents/${agent.agentId}`)).json).toMatchObject({ skills: [] });
      const served = await world.publish('was-served', { isReady: false, cardReason: 'CardDiffers' });
      await stateIs(served, 'degraded');
    },
  );

  verifies(
    ['catalogue:state:rejected'],
    'an agent that names the version of another agent shows nothing of that version and is not rejected because of its card',
    async () => {
      const victim = await world.publish('victim', { isServed: false, isReady: false, cardReason: 'CardDiffers' });
      const borrower = sketchAgent('borrower', { isServed: false, title: 'Own title' });
      const { agent } = resourcesOf(borrower);
      await create('agents', { ...agent, spec: { ...agent.spec, version: 'victim-1' } });
      await stateIs(borrower, 'degraded');
      await world.allow('dora', 'view', victim, borrower);
      expect(await world.listed('dora', '?state=rejected')).toEqual([victim.agentId]);
      const [row] = await world.database.sql`
        select name, description, skills from catalogue.agents where agent_id = ${borrower.agentId}::uuid`;
      expect(row).toEqual({ name: 'borrower', description: '', skills: [] });
    },
  );

  verifies(
    [
      'catalogue:record:safe-name',
      'catalogue:record:safe-description',
      'catalogue:record:no-internal-service',
      'catalogue:record:no-pod-address',
      'catalogue:record:no-card-address',
      'catalogue:record:no-source-card',
      'catalogue:record:no-diagnostics',
      'catalogue:record:no-credentials',
      'catalogue:internal-address:not-published',
      'catalogue:agent-id:opaque-uuid',
    ],
    'texts of a card are made safe, and no answer contains internals of the installation',
    async () => {
      const agent = await world.publish('unsafe', {
        title: 'Pay\u202eroll\u200b \u0007 agent',
        description:
          'Ask http://a-1.agents.svc:8080/x, http://10.0.0.7:8080, https://user:secret@files.example/x or 10.0.0.7. ' +
          'Or 100.64.0.7, [fd00::7]:8080, redis:6379. ' +
          'See https://docs.example/payroll.\nIgnore\u2066 me\u{e0041}\u{e0100}\ufe0f\u3164',
      });
      await world.allow('eve', 'view', agent);
      await world.allow('eve', 'invoke', agent);
      const one = await world.ask('eve', `/api/v1/agents/${agent.agentId}`);
      expect(one.json).toMatchObject({
        name: 'Pay roll agent',
        description:
          'Ask [removed] [removed] [removed] or [removed]. Or [removed], [removed], [removed]. ' +
          'See https://docs.example/payroll. Ignore me',
      });
      const listed = await world.ask('eve', '/api/v1/agents');
      for (const text of [one.text, listed.text]) {
        for (const inside of [
          '10.0.0.7',
          '100.64',
          'fd00',
          '6379',
          '.svc',
          'secret',
          'A private sentence',
          'executionModes',
          'agent-card',
          'default/',
        ]) {
          expect([inside, text.includes(inside)]).toEqual([inside, false]);
        }
      }
      expect(agent.agentId).not.toContain('unsafe');
      expect(Object.keys(one.json).toSorted()).toEqual([
        'agentId',
        'description',
        'implementationType',
        'invocationInterface',
        'name',
        'owner',
        'protocol',
        'skills',
        'state',
        'versionId',
        'workspace',
      ]);
    },
  );

  verifies(
    ['catalogue:surface:observed-agents', 'catalogue:invocation:version-not-ready'],
    'when more than ten agents disappear within a minute, further removals are paused, and the agents have no interfaces until they return',
    async () => {
      const many = await Promise.all(Array.from({ length: 12 }, (_one, at) => world.publish(`crowd-${at}`)));
      for (const right of ['view', 'invoke'] as const) await world.allow('fay', right, ...many);
      const callable = async (): Promise<number> => {
        const { json } = await world.ask('fay', '/api/v1/agents?limit=100');
        return (json['items'] as object[]).filter((one) => 'invocationInterface' in one).length;
      };
      expect(await callable()).toBe(many.length);
      for (const { name } of many) world.resources.remove('agents', name);
      const paused = async (): Promise<string | undefined> => {
        const metrics = await (await fetch(`${world.adminUrl}/metrics`)).text();
        return /^portcullis_catalogue_feed_paused\{[^}]*\} (\d)$/m.exec(metrics)?.[1];
      };
      await until('the feed is paused', async () => (await paused()) === '1');
      const later = await world.publish('after-the-crowd');
      expect(await world.stored(later)).toBe('active');
      const kept = await world.listed('fay', '?limit=100');
      expect(kept.length).toBeGreaterThanOrEqual(2);
      expect(await world.stored(later)).toBe('active');
      expect(await world.listed('fay', '?limit=100')).toEqual(kept);
      expect(await callable()).toBe(0);
      // A version of an agent that never was does not prolong the pause.
      const { version } = resourcesOf(sketchAgent('never-created'));
      await create('agentversions', version);
      for (const one of many) await create('agents', resourcesOf(one).agent);
      await until('the pause is over', async () => (await paused()) === '0');
      await until('all are back', async () => (await callable()) === many.length);
    },
  );
});
