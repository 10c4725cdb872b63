import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { withoutManagedFields } from '#kube/client/decode-object';
import { sampleAgent } from '#kube/testing/sample-agents';
import type { Agent } from '#resources/agent';
import type { Stored } from '#resources/metadata';
import { SqlUnavailableError } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { agentIdOf } from '../../agents/agent-bundle.ts';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import { createObservedStates } from './adapters/postgres/observed-states.ts';
import { startObservingAgents } from './observe-agents.ts';
import type { ObservedAgent, ObservedStates } from './ports.ts';

const agentId = agentIdOf('default', 'desk');
const bob = { kind: 'User', issuer: 'https://idp.test', subject: 'bob' } as const;

/** The Agent desk as a server returns it, created now and last changed by this field manager. */
function desk(generation: number, spec: Partial<Agent['spec']> = {}, manager = 'kubectl-edit'): Stored<Agent> {
  const agent = sampleAgent('desk', 'desk-1');
  const managedFields = [{ manager, time: '2026-01-31T09:00:00Z', fieldsV1: { 'f:spec': {} } }];
  const metadata = {
    name: 'desk',
    uid: 'uid-1',
    generation,
    resourceVersion: '1',
    creationTimestamp: systemClock.date().toISOString(),
    managedFields,
  };
  return withoutManagedFields({ ...agent, metadata, spec: { ...agent.spec, ...spec } } as Stored<Agent>, false);
}

function withMetadata(agent: Stored<Agent>, metadata: Partial<Stored<Agent>['metadata']>): Stored<Agent> {
  return { ...agent, metadata: { ...agent.metadata, ...metadata } };
}

/** A replica of the management API: its cache, and the queue of states that its watch reports. */
function startReplica(states: ObservedStates<ObservedAgent>, server: { agents: readonly Stored<Agent>[] }) {
  let report: (agent: Stored<Agent>) => void = () => undefined;
  let cached: readonly Stored<Agent>[] = server.agents;
  let looks = 0;
  const observing = startObservingAgents({
    client: {
      namespace: 'default',
      list: async () => ({ items: server.agents as never, resourceVersion: '1' }),
    },
    caches: {
      agents: {
        list() {
          looks += 1;
          return cached;
        },
      } as never,
      onAgentChange(listener) {
        report = listener;
      },
      synced: Promise.resolve(),
    },
    states,
    clock: systemClock,
    logger: silentLogger,
    faults: { lookFailed: () => undefined, changeNotRecorded: () => undefined },
  });
  return {
    watch(...agents: readonly Stored<Agent>[]) {
      for (const agent of agents) report(agent);
      cached = agents.slice(-1);
    },
    forget() {
      cached = [];
    },
    /** Waits until an observation that begins now has ended: one observation reads the cache twice. */
    async looked() {
      const before = looks;
      await until('the replica has looked again', async () => looks >= before + 4);
    },
    [Symbol.asyncDispose]: () => observing[Symbol.asyncDispose](),
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of agents in the audit log'), () => {
  async function openLog() {
    const database = await openTestDatabase();
    await migrate(database.database, {
      schema: 'management',
      folder: new URL('../migrations/', import.meta.url),
    });
    const audit = await openPostgresAudit(database.database, 'management');
    return {
      states: createObservedStates<ObservedAgent>(database.database, audit, 'observed_agents'),
      async entries() {
        const { entries } = await audit.read({ filter: { targetId: agentId }, order: 'oldest', limit: 100 });
        return entries.map(({ content }) => content);
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  test('a new agent gets one audit entry for its version and one for its rights', async () => {
    await using log = await openLog();
    await using replica = startReplica(log.states, { agents: [desk(1)] });
    await replica.looked();
    const author = { kind: 'claimed', name: 'kubectl-edit (field manager)' };
    expect(await log.entries()).toMatchObject([
      { action: 'agent.serve', outcome: 'observed', author, target: { type: 'agent', id: agentId } },
      { action: 'agent.access', outcome: 'observed', author, target: { type: 'agent', id: agentId } },
    ]);
    const [serve, access] = await log.entries();
    expect(serve?.serving).toEqual({ before: null, after: { version: 'desk-1', canary: null } });
    expect(access?.access).toMatchObject({ before: null, after: { count: 3 }, revoked: [] });
    expect(access?.access?.granted).toContain('owner User https://login.example.com|ann');
  });

  test('a switch, a trial and a switch back between two observations get one audit entry each, with their authors', async () => {
    await using log = await openLog();
    await using replica = startReplica(log.states, { agents: [desk(1)] });
    await replica.looked();
    replica.watch(
      desk(2, { version: 'desk-2' }, 'helm'),
      desk(3, { version: 'desk-2', canary: { version: 'desk-3', percent: 10 } }, 'portcullis'),
      desk(4, { version: 'desk-2', keep: 2 }),
      desk(5, {}),
    );
    await replica.looked();
    const served = (await log.entries()).filter(({ action }) => action === 'agent.serve').slice(1);
    expect(served.map(({ author, serving }) => [author, serving?.after])).toEqual([
      [
        { kind: 'claimed', name: 'helm (field manager)' },
        { version: 'desk-2', canary: null },
      ],
      [
        { kind: 'claimed', name: 'portcullis (field manager)' },
        { version: 'desk-2', canary: { version: 'desk-3', percent: 10 } },
      ],
      [
        { kind: 'claimed', name: 'kubectl-edit (field manager)' },
        { version: 'desk-2', canary: null },
      ],
      [
        { kind: 'claimed', name: 'kubectl-edit (field manager)' },
        { version: 'desk-1', canary: null },
      ],
    ]);
    expect((await log.entries()).filter(({ action }) => action === 'agent.access')).toHaveLength(1);
  });

  test('changes of lists, owners and public cards between two observations get one audit entry for rights, which names at most ten of each', async () => {
    await using log = await openLog();
    await using replica = startReplica(log.states, { agents: [desk(1)] });
    await replica.looked();
    const { access, owner } = desk(1).spec;
    const many = (count: number) => Array.from({ length: count }, (_, at) => ({ ...bob, subject: `bob-${at}` }));
    const next: Pick<Agent['spec'], 'owner' | 'access' | 'cards'> = {
      owner: { ...owner, subject: 'eve' },
      access: { ...access, view: [] },
      cards: 'Public',
    };
    replica.watch(
      desk(2, next),
      desk(3, { ...next, access: { ...next.access, view: many(10) } }),
      desk(4, { ...next, access: { ...next.access, view: [...many(10)].reverse() } }),
      desk(5, { ...next, access: { ...next.access, view: many(21) } }),
    );
    await replica.looked();
    const [, first, ten, more, ...none] = (await log.entries()).filter(({ action }) => action === 'agent.access');
    expect(none).toEqual([]);
    expect(first?.access).toMatchObject({
      before: { count: 3 },
      after: { count: 3 },
      granted: ['cards Public', 'owner User https://login.example.com|eve'],
      revoked: ['owner User https://login.example.com|ann', 'view User https://login.example.com|ann'],
    });
    expect([ten?.access?.granted.length, ten?.access?.grantedCount, ten?.access?.after?.count]).toEqual([10, 10, 13]);
    expect([more?.access?.granted.length, more?.access?.grantedCount, more?.access?.after?.count]).toEqual([
      10, 11, 24,
    ]);
    expect([first?.access?.revokedCount, more?.access?.revokedCount]).toEqual([2, 0]);
  });

  test('a change of an agent is recorded once by two replicas, and not again after a restart', async () => {
    await using log = await openLog();
    const server = { agents: [desk(1)] };
    {
      await using one = startReplica(log.states, server);
      await using two = startReplica(log.states, server);
      for (const replica of [one, two]) replica.watch(desk(1), desk(2, { version: 'desk-2' }), desk(3));
      await Promise.all([one.looked(), two.looked()]);
    }
    const before = await log.entries();
    expect(before.map(({ action }) => action)).toEqual(['agent.serve', 'agent.access', 'agent.serve', 'agent.serve']);
    server.agents = [desk(3)];
    await using again = startReplica(log.states, server);
    await again.looked();
    expect(await log.entries()).toEqual(before);
  });

  test('changes of an agent while no replica runs are recorded as one change with an unknown author', async () => {
    await using log = await openLog();
    {
      await using replica = startReplica(log.states, { agents: [desk(1)] });
      await replica.looked();
    }
    await using replica = startReplica(log.states, { agents: [desk(4, { version: 'desk-3' })] });
    await replica.looked();
    const last = (await log.entries()).at(-1);
    expect([last?.author, last?.serving?.before?.version, last?.serving?.after?.version]).toEqual([
      { kind: 'unknown' },
      'desk-1',
      'desk-3',
    ]);
  });

  test.each([
    ['half a minute ago has the author', 30_000, { kind: 'claimed', name: 'kubectl-edit (field manager)' }],
    ['two minutes ago has no author', 120_000, { kind: 'unknown' }],
  ])('an agent that is first seen and was created %s', async (_title, agoMs, author) => {
    await using log = await openLog();
    const creationTimestamp = new Date(systemClock.date().getTime() - agoMs).toISOString();
    await using replica = startReplica(log.states, { agents: [withMetadata(desk(1), { creationTimestamp })] });
    await replica.looked();
    expect((await log.entries()).map((entry) => [entry.action, entry.author])).toEqual([
      ['agent.serve', author],
      ['agent.access', author],
    ]);
    replica.watch(withMetadata(desk(2, { version: 'desk-2' }, 'helm'), { creationTimestamp }));
    await replica.looked();
    expect((await log.entries()).at(-1)?.author).toEqual({ kind: 'claimed', name: 'helm (field manager)' });
  });

  test('an agent change has the author that it names; the next change, which keeps the annotation, has its field manager as author', async () => {
    await using log = await openLog();
    const annotations = {
      'portcullis.dev/change-note': '{"token":"generation 2","author":"ann (command line)","message":"trial"}',
    };
    const noted = (generation: number, version: string) => withMetadata(desk(generation, { version }), { annotations });
    await using replica = startReplica(log.states, { agents: [desk(1)] });
    for (const [generation, version, name] of [
      [2, 'desk-2', 'ann (command line)'],
      [3, 'desk-3', 'kubectl-edit (field manager)'],
    ] as const) {
      await replica.looked();
      replica.watch(noted(generation, version));
      await replica.looked();
      expect((await log.entries()).at(-1)).toMatchObject({ action: 'agent.serve', author: { kind: 'claimed', name } });
    }
    expect(JSON.stringify(await log.entries())).not.toContain('trial');
  });

  test('the deletion of an agent is recorded before the agent that was created again with its name', async () => {
    await using log = await openLog();
    const server = { agents: [desk(1)] };
    const actions = async () => (await log.entries()).map(({ action }) => action);
    const [created, ended] = [['agent.serve', 'agent.access'], ['agent.delete']];
    {
      await using replica = startReplica(log.states, server);
      await replica.looked();
      server.agents = [withMetadata(desk(1), { uid: 'uid-2' })];
      replica.watch(desk(2, { version: 'desk-2' }), ...server.agents);
      await replica.looked();
      expect(await actions()).toEqual([...created, 'agent.serve', ...ended, ...created]);
    }
    server.agents = [withMetadata(desk(1), { uid: 'uid-3' })];
    await using replica = startReplica(log.states, server);
    await replica.looked();
    expect(await actions()).toEqual([...created, 'agent.serve', ...ended, ...created, ...ended, ...created]);
  });

  test('a holder whose name contains a character that PostgreSQL refuses gets one audit entry, and no second one with the next change', async () => {
    await using log = await openLog();
    const { access } = desk(1).spec;
    const view = [{ ...bob, subject: 'bob\0' }];
    await using replica = startReplica(log.states, { agents: [desk(1)] });
    await replica.looked();
    replica.watch(
      desk(2, { access: { ...access, view } }),
      desk(3, { access: { ...access, view }, version: 'desk-2' }),
    );
    await replica.looked();
    const entries = (await log.entries()).slice(2);
    expect(entries.map(({ action }) => action)).toEqual(['agent.access', 'agent.serve']);
    expect(entries[0]?.access).toMatchObject({ granted: ['view User https://idp.test|bob\u{fffd}'] });
  });

  test('holders whose names differ only in the position of a separator are different holders', async () => {
    await using log = await openLog();
    const { access } = desk(1).spec;
    const viewedBy = (...view: Agent['spec']['access']['view']) => ({ access: { ...access, view } });
    const group = (tenant: string, name: string) => ({ kind: 'Group', tenant, group: name }) as const;
    const user = (issuer: string, subject: string) => ({ kind: 'User', issuer, subject }) as const;
    const first = viewedBy(group('acme/support', 'x'), user('https://idp|a', 'b'), group('acme\\', 'y'));
    const second = viewedBy(group('acme', 'support/x'), user('https://idp', 'a|b'), group('acme', '\\y'));
    await using replica = startReplica(log.states, { agents: [desk(1, first)] });
    await replica.looked();
    replica.watch(desk(2, second));
    await replica.looked();
    expect((await log.entries()).at(-1)?.access).toMatchObject({
      granted: ['view Group acme/\\\\y', 'view Group acme/support\\/x', 'view User https://idp|a\\|b'],
      revoked: ['view Group acme\\/support/x', 'view Group acme\\\\/y', 'view User https://idp\\|a|b'],
    });
  });

  test('the deletion of an agent is recorded once if the API server no longer has it, and a later state of the object is not recorded', async () => {
    await using log = await openLog();
    const server = { agents: [desk(1)] };
    {
      await using one = startReplica(log.states, server);
      await one.looked();
      one.forget();
      await one.looked();
      expect((await log.entries()).map(({ action }) => action)).not.toContain('agent.delete');
    }
    server.agents = [];
    await using one = startReplica(log.states, server);
    await using two = startReplica(log.states, server);
    await Promise.all([one.looked(), two.looked()]);
    two.watch(desk(2, { version: 'desk-2' }));
    await two.looked();
    const deleted = (await log.entries()).slice(2);
    expect(deleted).toMatchObject([{ action: 'agent.delete', author: { kind: 'unknown' } }]);
    expect(deleted[0]?.serving).toEqual({ before: { version: 'desk-1', canary: null }, after: null });
  });

  test('a state that could not be written is recorded when the database answers again', async () => {
    await using log = await openLog();
    let isAway = true;
    let refusals = 0;
    const states: ObservedStates<ObservedAgent> = {
      ...log.states,
      async advance(agent, entriesOf) {
        if (isAway && agent.generation === 2) {
          refusals += 1;
          throw new SqlUnavailableError('away');
        }
        await log.states.advance(agent, entriesOf);
      },
    };
    await using replica = startReplica(states, { agents: [desk(1)] });
    await replica.looked();
    replica.watch(desk(2, { version: 'desk-2' }), desk(3));
    await until('the database refused twice', async () => refusals > 1);
    expect(await log.entries()).toHaveLength(2);
    isAway = false;
    await until('both are recorded', async () => (await log.entries()).length === 4);
    const served = (await log.entries()).flatMap(({ serving }) => serving?.after?.version ?? []);
    expect(served).toEqual(['desk-1', 'desk-2', 'desk-1']);
  });
});
