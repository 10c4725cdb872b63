import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { lowCodeOf } from '../agents/testing/low-code-of.ts';
import { type AgentPlatform, agentName, reasonOf, startAgentPlatform } from '../testing/agent-platform.ts';
import { waitFor } from '../testing/start-test-operator.ts';

/** Starts with the versions `one` and `two`, of which `one` is served and confirmed. */
async function startServing(change: Partial<Agent['spec']> = {}) {
  const world = await startAgentPlatform();
  const one = await world.publish('one');
  const two = await world.publish('two');
  await world.report();
  await world.agent(change);
  await world.route('one is routed', ({ served }) => served === one.metadata.uid);
  await world.report();
  await world.settled('Ready');
  return { world, one: one.metadata.uid, two: two.metadata.uid };
}

async function gone(
  world: AgentPlatform,
  kind: typeof kinds.agent | typeof kinds.agentVersion | typeof kinds.agentRoute,
  name: string,
) {
  await until(`${name} is gone`, async () => (await world.platform.client.get(kind, name)) === undefined);
}

async function remove(
  world: AgentPlatform,
  kind: typeof kinds.agent | typeof kinds.agentVersion,
  name: string,
): Promise<void> {
  const found = await world.platform.client.get<Agent | AgentVersion>(kind, name);
  await world.platform.client.delete(kind, name, { uid: found?.metadata.uid ?? '' });
}

const namesOf = ({ versions }: AgentRoute['spec']): readonly string[] => versions.map(({ version }) => version);
const statusOf = ({ status }: Stored<Agent>) => ({
  served: status?.served?.version,
  canary: status?.canary && `${status.canary.version} ${status.canary.percent}`,
  previous: status?.previous?.map(({ version }) => version),
});

describe('an agent that is served', () => {
  test('a version of an agent counts as served only when every ready gateway replica has loaded the route', async () => {
    await using world = await startAgentPlatform();
    const { metadata, status: version } = await world.publish('one');
    await world.report();
    await world.agent();
    const route = await world.route('it is routed', ({ served }) => served === metadata.uid);
    const waiting = await world.settled('WaitingForReplicas');
    expect(waiting.status?.served).toBeUndefined();
    expect(waiting.metadata.finalizers).toEqual([operatorFinalizer]);
    await world.report('pend');
    await world.settled('WaitingForReplicas');
    await world.report();
    const ready = await world.settled('Ready');
    expect(statusOf(ready)).toEqual({ served: 'one', canary: undefined, previous: undefined });
    expect(ready.status?.url).toBe(`https://agents.example/agents/${version?.agentId}`);
    expect(ready.status?.conditions?.map(({ type, status }) => [type, status])).toEqual([
      ['Ready', 'True'],
      ['RouteAccepted', 'True'],
      ['AccessConsistent', 'True'],
    ]);
    expect(route.spec).toMatchObject({
      formatVersion: 1,
      agentId: version?.agentId,
      agent: { name: agentName, uid: ready.metadata.uid },
      versions: [{ version: 'one', versionId: metadata.uid, modes: ['A2A'], cardDigest: version?.cardDigest }],
      cards: 'View',
      exposure: 'R1',
    });
  });

  test('without a ready replica that serves agents an agent is not Ready', async () => {
    await using world = await startAgentPlatform();
    await world.publish('one');
    await world.replica.report();
    await world.agent();
    await world.settled('NoAgentReplica');
    await world.report('take', [], { ready: false });
    await world.settled('NoAgentReplica');
    await world.report();
    await world.settled('Ready');
  });

  test('owner and access of an agent are stored as rights, and a change of access replaces them', async () => {
    const { world } = await startServing();
    await using _world = world;
    const { status } = await world.settled('Ready');
    const object = `agent:${status?.agentId}`;
    const ada = 'user:https%3A//people.example|ada';
    expect(world.authority.tuplesOf(object)).toEqual([`invoke ${ada}`, `owner ${ada}`, `view ${ada}`]);
    await world.edit({
      access: {
        view: [{ kind: 'Group', tenant: 'acme', group: 'support' }],
        invoke: [
          { kind: 'Agent', agent: 'planner' },
          { kind: 'Service', issuer: 'https://jobs.example', subject: 'nightly' },
          { kind: 'AuthenticatedAll' },
        ],
      },
    });
    await world.settled('Ready');
    const [asAgent, ...others] = world.authority.tuplesOf(object);
    expect(asAgent).toMatch(/^invoke agent:https%3A\/\/gateway\.example\|[0-9a-f-]{36}$/);
    expect(others).toEqual([
      'invoke agent:https%3A//jobs.example|nightly',
      'invoke group:authenticated_all#member',
      `owner ${ada}`,
      'view group:acme/support#member',
    ]);
  });

  test('the first route of an agent is written only after its rights are stored, and later changes do not wait for them', async () => {
    await using world = await startAgentPlatform();
    await world.publish('one');
    const two = await world.publish('two');
    await world.report();
    world.authority.setAway(true);
    await world.agent();
    await world.settled('RelationsUnavailable');
    world.authority.setAway('refused');
    await world.settled('RelationsMismatch');
    expect(await world.platform.client.get(kinds.agentRoute, agentName)).toBeUndefined();
    world.authority.setAway(false);
    await world.route('it is routed', () => true);
    await world.report();
    await world.settled('Ready');
    world.authority.setAway(true);
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ served }) => served === two.metadata.uid);
  });

  test('an agent whose name is too long for the store of rights is refused with that reason', async () => {
    await using world = await startAgentPlatform();
    await world.publish('one');
    await world.agent({ owner: { issuer: `https://${'é'.repeat(200)}.example`, subject: 'ada' } });
    await world.settled('AccessInvalid');
  });

  test('an edit of an agent revokes and grants rights although another name in it is too long for their store', async () => {
    const { world } = await startServing();
    await using _world = world;
    const { status } = await world.settled('Ready');
    const object = `agent:${status?.agentId}`;
    const [ada, ben] = ['ada', 'ben'].map((name) => `user:https%3A//people.example|${name}`);
    expect(world.authority.tuplesOf(object)).toContain(`invoke ${ada}`);
    const issuer = 'https://people.example';
    const long = { kind: 'User', issuer, subject: 'я'.repeat(90) } as const;
    await world.edit({ access: { view: [], invoke: [long, { kind: 'User', issuer, subject: 'ben' }] } });
    const refused = await world.settled('AccessInvalid');
    expect(reasonOf(refused, 'AccessConsistent')).toBe('AccessInvalid');
    expect(world.authority.tuplesOf(object)).toEqual([`invoke ${ben}`, `owner ${ada}`]);
    await world.edit({ owner: { issuer, subject: long.subject }, access: { view: [], invoke: [] } });
    await world.settled('AccessInvalid', ({ spec }) => spec.access.invoke.length === 0);
    expect(world.authority.tuplesOf(object)).toEqual([]);
    await world.edit({ owner: { issuer, subject: 'ben' } });
    await world.settled('Ready');
    expect(world.authority.tuplesOf(object)).toEqual([`owner ${ben}`]);
  });
});

describe('a change of the served version', () => {
  test('a new version of an agent is served after the replicas confirmed it, and the previous one stays reachable', async () => {
    const { world, one, two } = await startServing();
    await using _world = world;
    await world.edit({ version: 'two' });
    const route = await world.route('two is routed', ({ served }) => served === two);
    expect(namesOf(route.spec)).toEqual(['two', 'one']);
    expect(statusOf(await world.settled('WaitingForReplicas')).served).toBe('one');
    await world.report();
    const ready = await world.settled('Ready');
    expect(statusOf(ready)).toEqual({ served: 'two', canary: undefined, previous: ['one'] });
    expect(ready.status?.previous?.[0]?.versionId).toBe(one);
  });

  test('a rollback of an agent only changes the named version, and the version before stays reachable', async () => {
    const { world, one } = await startServing();
    await using _world = world;
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ versions }) => versions.length === 2);
    await world.report();
    await world.settled('Ready');
    await world.edit({ version: 'one' });
    const route = await world.route('one is routed again', ({ served }) => served === one);
    expect(namesOf(route.spec)).toEqual(['one', 'two']);
    await world.report();
    expect(statusOf(await world.settled('Ready'))).toMatchObject({ served: 'one', previous: ['two'] });
  });

  test('the status of an agent names the texts that a policy checks in the served version', async () => {
    await using world = await startAgentPlatform();
    const { spec } = await world.publish('open');
    const output = { mode: 'Policy', policyRef: { name: 'texts', revision: 3 } } as const;
    const lowCode = lowCodeOf(spec);
    const manifest = lowCode.manifest.replace('output: None', 'output: { policy: texts, revision: 3 }');
    await world.publish('checked', {
      guardrails: { ...spec.guardrails, output },
      lowCode: { ...lowCode, manifest },
    });
    const checkedBy = async (version: string) => {
      await world.route(`${version} is routed`, ({ versions }) => versions[0]?.version === version);
      const agent = await until(`${version} is served`, async () => {
        await world.report();
        const found = await world.platform.client.get<Agent>(kinds.agent, agentName);
        return found?.status?.served?.version === version && found;
      });
      return agent.status?.checked;
    };
    await world.report();
    await world.agent({ version: 'checked' });
    expect(await checkedBy('checked')).toEqual(['Output']);
    const { uid, generation } = (await world.platform.client.get<Agent>(kinds.agent, agentName))?.metadata ?? {};
    const confirmed = { 'portcullis.dev/confirm-unguarded': `${uid}.${generation}` };
    await world.platform.client.patch(kinds.agent, agentName, [
      { op: 'add', path: '/metadata/annotations', value: confirmed },
      { op: 'replace', path: '/spec/version', value: 'open' },
    ]);
    expect(await checkedBy('open')).toBeUndefined();
  });

  test.each([
    [0, ['three'], undefined],
    [1, ['three', 'two'], ['two']],
    [2, ['three', 'two', 'one'], ['two', 'one']],
  ])('the route of an agent with keep %i lists the versions %j', async (keep, listed, previous) => {
    const { world } = await startServing({ keep });
    await using _world = world;
    await world.publish('three');
    for (const version of ['two', 'three']) {
      await world.edit({ version });
      await world.route(`${version} is routed`, ({ versions }) => versions[0]?.version === version);
      // A confirmed route is reduced immediately and then waits for reports again, so that one report can be too few.
      await until(`${version} is served`, async () => {
        await world.report();
        const agent = await world.platform.client.get<Agent>(kinds.agent, agentName);
        return agent?.status?.served?.version === version;
      });
    }
    const route = await world.route('it is trimmed', (spec) => namesOf(spec).length === listed.length);
    expect(namesOf(route.spec)).toEqual(listed);
    await world.report();
    expect(statusOf(await world.settled('Ready')).previous).toEqual(previous);
  });

  test.each([
    ['absent', 'VersionNotFound', async () => undefined],
    ['foreign', 'VersionOfOtherAgent', (world: AgentPlatform) => world.publish('foreign', { agent: 'planner' })],
  ])(
    'an agent that names a version that is %s serves what it served before, with the reason %s',
    async (version, reason, prepare) => {
      const { world, one } = await startServing();
      await using _world = world;
      await prepare(world);
      await world.edit({ version });
      await world.settled(reason);
      const route = await world.platform.client.get<AgentRoute>(kinds.agentRoute, agentName);
      expect(route?.spec.served).toBe(one);
    },
  );

  test('an agent does not serve a version before it is ready, and naming another version meanwhile cancels the change', async () => {
    const { world, one, two } = await startServing();
    await using _world = world;
    const { status } = await waitFor<AgentVersion>(world.platform, kinds.agentVersion, 'two', 'two', () => true);
    const workload = status?.workload ?? '';
    world.agents.report(workload, { ready: false, problems: [{ code: 'starting', message: 'starts' }] });
    await waitFor<AgentVersion>(
      world.platform,
      kinds.agentVersion,
      'two',
      'two is not ready',
      (it) => reasonOf(it) !== 'Ready',
    );
    await world.edit({ version: 'two' });
    await world.settled('VersionNotReady');
    await world.edit({ version: 'one' });
    await world.settled('Ready');
    world.agents.report(workload, {});
    await world.edit({ workspace: 'other' });
    await world.settled('Ready');
    expect((await world.route('one is routed', () => true)).spec.served).toBe(one);
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ served }) => served === two);
  });

  test('a served version whose process stopped stays in the route, which gets its new address when it runs again', async () => {
    const { world, one } = await startServing();
    await using _world = world;
    const { status } = await waitFor<AgentVersion>(world.platform, kinds.agentVersion, 'one', 'one', () => true);
    const workload = status?.workload ?? '';
    world.agents.report(workload, { ready: false, problems: [{ code: 'shutting_down', message: 'ends' }] });
    await world.settled('VersionNotReady');
    expect((await world.route('it is routed', () => true)).spec.served).toBe(one);
    world.agents.move(workload, 'http://127.0.0.1:9');
    await world.route('it has the new address', ({ versions }) => versions[0]?.address === 'http://127.0.0.1:9');
    await world.report();
    expect(statusOf(await world.settled('Ready')).served).toBe('one');
  });

  test('a version that a gateway replica rejects is removed from the route and not tried again before the Agent changes', async () => {
    const { world, one, two } = await startServing();
    await using _world = world;
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ served }) => served === two);
    await world.report({ reject: 'probe_card_wrong' });
    const back = await world.route('one is routed again', ({ served }) => served === one);
    expect(back.spec.refused).toMatchObject({ versionIds: [two], reason: 'probe_card_wrong' });
    await world.report();
    const refused = await world.settled('RouteRejected');
    expect(statusOf(refused).served).toBe('one');
    await world.edit({ workspace: 'other' });
    await world.route('two is tried again', ({ served, refused: left }) => served === two && left === undefined);
    await world.report();
    expect(statusOf(await world.settled('Ready')).served).toBe('two');
  });
});

test.each(['unknown_format', 'invalid_route: versions.0.guardrails.input'])(
  'a version whose route a replica of an earlier release cannot read is served when that replica is replaced: %s',
  async (reason) => {
    const { world, one, two } = await startServing();
    await using _world = world;
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ served }) => served === two);
    await world.report({ reject: reason });
    const waiting = await world.settled('RouteRejected');
    expect(statusOf(waiting).served).toBe('one');
    const { spec } = await world.route('it is kept', () => true);
    expect([spec.served, spec.refused, spec.versions.map(({ versionId }) => versionId)]).toEqual([
      ...[two, undefined, [two, one]],
    ]);
    await world.report();
    expect(statusOf(await world.settled('Ready')).served).toBe('two');
  },
);

describe('a version on trial', () => {
  test('a version on trial gets its share of the calls, is served after its promotion, and is removed when it is withdrawn', async () => {
    const { world, one, two } = await startServing();
    await using _world = world;
    await world.edit({ canary: { version: 'two', percent: 10 } });
    await world.route('two is on trial', ({ canary }) => canary?.versionId === two && canary.percent === 10);
    await world.report();
    expect(statusOf(await world.settled('Ready'))).toEqual({ served: 'one', canary: 'two 10', previous: undefined });
    await world.edit({ canary: { version: 'two', percent: 50 } });
    await world.route('its share is 50', ({ canary }) => canary?.percent === 50);
    await world.report();
    await world.settled('Ready', ({ status }) => status?.canary?.percent === 50);
    await world.platform.client.patch(kinds.agent, agentName, [
      { op: 'remove', path: '/spec/canary' },
      { op: 'replace', path: '/spec/version', value: 'two' },
    ]);
    const route = await world.route('two is served', ({ served }) => served === two);
    expect([route.spec.canary, route.spec.versions[1]?.versionId]).toEqual([undefined, one]);
    await world.report();
    expect(statusOf(await world.settled('Ready'))).toEqual({ served: 'two', canary: undefined, previous: ['one'] });
  });

  test('a version whose trial is withdrawn is no longer reachable once every gateway replica has confirmed that', async () => {
    const { world } = await startServing({ canary: { version: 'two', percent: 10 } });
    await using _world = world;
    await world.platform.client.patch(kinds.agent, agentName, [{ op: 'remove', path: '/spec/canary' }]);
    await world.route('the trial is withdrawn', ({ canary }) => canary === undefined);
    await world.report();
    await world.route('only one is listed', (spec) => namesOf(spec).join() === 'one');
    await world.report();
    expect(statusOf(await world.settled('Ready'))).toEqual({ served: 'one', canary: undefined, previous: undefined });
  });

  test('a version on trial that is absent or rejected does not affect the served version', async () => {
    const { world, one, two } = await startServing();
    await using _world = world;
    await world.edit({ canary: { version: 'absent', percent: 10 } });
    expect(statusOf(await world.settled('CanaryNotFound'))).toMatchObject({ served: 'one', canary: undefined });
    await world.edit({ canary: { version: 'two', percent: 10 } });
    await world.route('two is on trial', ({ canary }) => canary?.versionId === two);
    await world.report({ reject: 'probe_card_wrong' });
    const route = await world.route('the trial is withdrawn', (spec) => spec.refused !== undefined);
    expect([route.spec.served, route.spec.canary]).toEqual([one, undefined]);
    await world.report();
    expect(statusOf(await world.settled('RouteRejected'))).toMatchObject({ served: 'one', canary: undefined });
  });
});

describe('a deletion', () => {
  test('the deletion of a served version waits until the agent serves another one and its calls have ended', async () => {
    const { world, one } = await startServing({ keep: 0 });
    await using _world = world;
    const { agentId } = (await world.settled('Ready')).status ?? {};
    await remove(world, kinds.agentVersion, 'one');
    await waitFor<AgentVersion>(
      world.platform,
      kinds.agentVersion,
      'one',
      'it waits',
      (it) => reasonOf(it) === 'Routed',
    );
    await world.settled('VersionDeleting');
    await world.edit({ version: 'two' });
    await world.route('two is routed', ({ versions }) => versions[0]?.version === 'two');
    const call = { agentId: agentId ?? '', versionId: one };
    await world.report('take', [call]);
    await world.route('only two is listed', (spec) => namesOf(spec).join() === 'two');
    await world.report('take', [call]);
    await waitFor<AgentVersion>(
      world.platform,
      kinds.agentVersion,
      'one',
      'it drains',
      (it) => reasonOf(it) === 'Draining',
    );
    await world.report();
    await gone(world, kinds.agentVersion, 'one');
    expect(statusOf(await world.settled('Ready')).served).toBe('two');
  });

  test('a served version that is being deleted runs again after a restart of the operator, at the address that its route has then', async () => {
    const { world } = await startServing({ keep: 0 });
    await using _world = world;
    const isRouted = () =>
      waitFor<AgentVersion>(
        world.platform,
        kinds.agentVersion,
        'one',
        'its process is ready',
        (it) => reasonOf(it) === 'Routed',
      );
    await remove(world, kinds.agentVersion, 'one');
    await isRouted();
    await world.restart();
    const workload = await until('it runs again', () =>
      [...world.agents.running.values()].find(({ resource }) => resource === 'one'),
    );
    await isRouted();
    world.agents.move(workload.name, 'http://127.0.0.1:50001');
    await world.route('its route has the new address', ({ versions }) =>
      versions.some(({ version, address }) => version === 'one' && address === 'http://127.0.0.1:50001'),
    );
    await world.report();
    await world.edit({ version: 'two' });
    await world.route('two is served', ({ versions }) => versions[0]?.version === 'two');
    await world.report();
    await world.route('only two is listed', (spec) => namesOf(spec).join() === 'two');
    await world.report();
    await gone(world, kinds.agentVersion, 'one');
    expect(world.agents.has(workload.name)).toBe(false);
  });

  test('the deletion of an agent removes its route first and waits for calls in flight', async () => {
    const { world, one } = await startServing();
    await using _world = world;
    const { agentId } = (await world.settled('Ready')).status ?? {};
    await remove(world, kinds.agent, agentName);
    await gone(world, kinds.agentRoute, agentName);
    await world.report('take', [{ agentId: agentId ?? '', versionId: one }]);
    await waitFor<Agent>(world.platform, kinds.agent, agentName, 'it drains', (it) => reasonOf(it) === 'Draining');
    await world.report();
    await gone(world, kinds.agent, agentName);
    expect((await world.platform.client.get(kinds.agentVersion, 'one')) !== undefined).toBe(true);
  });

  test('an agent that is deleted and created again has the same id and its own rights', async () => {
    const { world } = await startServing();
    await using _world = world;
    const { agentId } = (await world.settled('Ready')).status ?? {};
    await remove(world, kinds.agent, agentName);
    await gone(world, kinds.agentRoute, agentName);
    await world.report();
    await gone(world, kinds.agent, agentName);
    await world.agent({ access: { view: [], invoke: [] } });
    await world.route('it is routed again', () => true);
    await world.report();
    expect((await world.settled('Ready')).status?.agentId).toBe(agentId);
    expect(world.authority.tuplesOf(`agent:${agentId}`)).toEqual(['owner user:https%3A//people.example|ada']);
  });
});
