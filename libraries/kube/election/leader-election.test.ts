import type { IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { type Clock, systemClock } from '#kit/time/clock';
import type { Stored } from '#resources/metadata';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { ConfigMap } from '../client/builtin-types.ts';
import { createClient, type KubeClient } from '../client/client.ts';
import { type FakeApiServer, startFakeApiServer } from '../testing/fake-api-server.ts';
import { fenced, NotLeaderError } from './fenced-client.ts';
import { type LeaderElection, type LeaderElectionOptions, startLeaderElection } from './leader-election.ts';

const short = { leaseMs: 1_000, renewDeadlineMs: 600, retryMs: 100 } as const;
/** A lease that does not expire in a test. */
const unexpiring = { leaseMs: 600_000, renewDeadlineMs: 500_000, retryMs: 100 } as const;

async function openServer(): Promise<FakeApiServer> {
  const server = await startFakeApiServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

type Candidate = LeaderElection & {
  readonly client: KubeClient;
  readonly slowPaths: () => number;
  readonly leads: () => boolean;
};

/** A candidate whose requests have its name as the token. */
function stand(server: FakeApiServer, identity: string, options: Partial<LeaderElectionOptions> = {}): Candidate {
  const client = createClient({ url: server.url, tokenFile: { first: () => identity }, namespace: 'team' });
  const counted = { slowPaths: 0, leads: false };
  const logger = { info() {}, warn() {} };
  const meter = {
    leading(leads: boolean) {
      counted.leads = leads;
    },
    slowPath() {
      counted.slowPaths += 1;
    },
  };
  const election = startLeaderElection({ client, name: 'operator', identity, logger, meter, ...short, ...options });
  onTestFinished(async () => {
    await election[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
  });
  return Object.assign(election, { client, slowPaths: () => counted.slowPaths, leads: () => counted.leads });
}

const holderOf = (server: FakeApiServer) => leaseSpec(server)?.['holderIdentity'];
const leaseSpec = (server: FakeApiServer) => server.object('leases', 'operator')?.['spec'] as Record<string, unknown>;
const from = (identity: string) => (incoming: IncomingMessage) =>
  incoming.headers.authorization === `Bearer ${identity}`;

describe('a leader election', () => {
  test('one of two candidates is the leader, and only the leader may write', async () => {
    const server = await openServer();
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    const two = stand(server, 'two', unexpiring);
    await until('the second read the lease', () => server.seen.filter((line) => line.startsWith('GET')).length >= 2);
    expect(holderOf(server)).toBe(one.holder);
    expect(one.holder).toMatch(/^one_[0-9a-f-]{36}$/);
    expect([one.writesAllowed(), two.writesAllowed()]).toEqual([true, false]);
    expect(leaseSpec(server)).toMatchObject({ leaseDurationSeconds: 600, leaseTransitions: 0 });
    expect(leaseSpec(server)['renewTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test('a standby becomes the leader immediately when the leader releases the lease', async () => {
    const server = await openServer();
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    const two = stand(server, 'two', unexpiring);
    await until('the second read the lease', () => server.seen.filter((line) => line.startsWith('GET')).length >= 2);
    await one[Symbol.asyncDispose]();
    expect(one.writesAllowed()).toBe(false);
    await two.elected;
    expect(holderOf(server)).toBe(two.holder);
    expect(leaseSpec(server)).toMatchObject({ leaseDurationSeconds: 600, leaseTransitions: 1 });
  });

  test('a released lease has an empty holder', async () => {
    const server = await openServer();
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    await one[Symbol.asyncDispose]();
    expect(leaseSpec(server)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  });

  test.each([0, 3_600_000, -3_600_000])(
    'a standby with a clock skew of %i ms replaces an unreachable leader',
    async (skewMs) => {
      const server = await openServer();
      const one = stand(server, 'one');
      await one.elected;
      const clock: Clock = { now: systemClock.now, date: () => new Date(Date.now() + skewMs) };
      const two = stand(server, 'two', { clock });
      await until('the leader renewed', () => server.seen.filter((line) => line.startsWith('PATCH')).length >= 3);
      server.fate = (incoming) => (from('one')(incoming) ? 'cut' : 'served');
      const overlap = two.elected.then(() => one.writesAllowed());
      expect(await one.lost).toBe('not_renewed');
      expect(one.writesAllowed()).toBe(false);
      expect(two.writesAllowed()).toBe(false);
      expect(await overlap).toBe(false);
      expect(holderOf(server)).toBe(two.holder);
    },
  );

  test('a standby does not acquire a lease before the lease duration has passed since the last renewal', async () => {
    const server = await openServer();
    const one = stand(server, 'one');
    await one.elected;
    const two = stand(server, 'two');
    let renewedAt = performance.now();
    server.fate = (incoming) => {
      if (from('one')(incoming)) renewedAt = performance.now();
      return 'served';
    };
    await until('the leader renewed', () => server.seen.filter((line) => line.startsWith('PATCH')).length >= 3);
    server.fate = (incoming) => (from('one')(incoming) ? 'cut' : 'served');
    await two.elected;
    expect(performance.now() - renewedAt).toBeGreaterThanOrEqual(short.leaseMs);
  });

  test('a leader whose lease was edited by a user renews it and keeps the edit', async () => {
    const server = await openServer();
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    const label = (): void =>
      server.change('leases', 'operator', ({ metadata }) => {
        metadata['labels'] = { edited: 'yes' };
      });
    label();
    const version = server.object('leases', 'operator')?.metadata.resourceVersion;
    await until('it is renewed', () => server.object('leases', 'operator')?.metadata.resourceVersion !== version);
    expect([one.slowPaths(), one.writesAllowed(), one.leads()]).toEqual([1, true, true]);
    expect(server.object('leases', 'operator')?.metadata['labels']).toEqual({ edited: 'yes' });
  });

  test('a leader whose lease was deleted creates it again and stays the leader', async () => {
    const server = await openServer();
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    const two = stand(server, 'two', unexpiring);
    await until('the leader renewed', () => server.seen.filter((line) => line.startsWith('PATCH')).length >= 2);
    server.remove('leases', 'operator');
    await until('the lease exists again', () => server.object('leases', 'operator'));
    expect(holderOf(server)).toBe(one.holder);
    expect([one.writesAllowed(), two.leads()]).toEqual([true, false]);
  });

  test('a leader loses the leadership when the lease names another holder', async () => {
    const server = await openServer();
    const one = stand(server, 'one');
    await one.elected;
    server.change('leases', 'operator', (lease) => Object.assign(lease['spec'] as object, { holderIdentity: 'thief' }));
    expect(await one.lost).toBe('taken');
    expect([one.writesAllowed(), one.leads()]).toEqual([false, false]);
    await one[Symbol.asyncDispose]();
    expect(holderOf(server)).toBe('thief');
  });

  test('a candidate becomes the leader although the response to its acquisition was lost', async () => {
    const server = await openServer();
    let isLost = false;
    server.fate = (incoming) => {
      if (incoming.method !== 'POST' || isLost) return 'served';
      isLost = true;
      return 'unanswered';
    };
    const one = stand(server, 'one', unexpiring);
    await one.elected;
    expect(holderOf(server)).toBe(one.holder);
  });

  test('a candidate pauses between attempts that the server refuses', async () => {
    const server = await openServer();
    let tries = 0;
    const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
    onTestFinished(() => client[Symbol.asyncDispose]());
    const refusing: KubeClient = {
      ...client,
      create: async (kind, object) => {
        tries += 1;
        return client.patch(kind, object.metadata.name, []) as never;
      },
    };
    const one = stand(server, 'one', { client: refusing });
    await until('it tried twice', () => tries >= 2);
    // A loop without a pause would make hundreds of attempts.
    expect(tries).toBeLessThan(10);
    expect(one.writesAllowed()).toBe(false);
  });

  test.each([
    { leaseMs: 10_000, renewDeadlineMs: 10_000, retryMs: 2_000 },
    { leaseMs: 15_000, renewDeadlineMs: 2_400, retryMs: 2_000 },
  ])('lease durations without a margin are refused: %o', async (times) => {
    const server = await openServer();
    expect(() => stand(server, 'one', times)).toThrow(RangeError);
  });
});

describe('a leader on a machine that was suspended', () => {
  const jump = { monotonic: 0, date: 0 };
  const clock: Clock = {
    now: () => performance.now() + jump.monotonic,
    date: () => new Date(Date.now() + jump.date),
  };

  test.each(['monotonic', 'date'] as const)(
    'the fence refuses every write when the %s clock is past the renew deadline of the lease',
    async (which) => {
      Object.assign(jump, { monotonic: 0, date: 0 });
      const server = await openServer();
      const times = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 5_000 };
      const one = stand(server, 'one', { ...times, clock });
      await one.elected;
      jump[which] = 9_000;
      expect(one.writesAllowed()).toBe(true);
      jump[which] = 10_001;
      expect(one.writesAllowed()).toBe(false);
      const client = fenced(one.client, one.writesAllowed.bind(one));
      const before = server.seen.length;
      const refused = [
        client.create(builtinKinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
        client.patch(builtinKinds.configMap, 'a', []),
        client.patchStatus(builtinKinds.configMap, 'a', []),
        client.delete(builtinKinds.configMap, 'a', { uid: 'u' }),
      ];
      for (const write of refused) await expect(write).rejects.toBeInstanceOf(NotLeaderError);
      expect(server.seen.length).toBe(before);
      expect(await client.get(builtinKinds.configMap, 'a')).toBeUndefined();
    },
  );

  test('a leader that runs again after its renew deadline has lost the leadership', async () => {
    Object.assign(jump, { monotonic: 0, date: 0 });
    const server = await openServer();
    const one = stand(server, 'one', { ...short, clock });
    await one.elected;
    jump.monotonic = 10_000;
    expect(await one.lost).toBe('not_renewed');
    expect(one.leads()).toBe(false);
  });
});

test('the fence lets the writes of a leader pass', async () => {
  const server = await openServer();
  const one = stand(server, 'one', unexpiring);
  await one.elected;
  const client = fenced(one.client, () => one.writesAllowed());
  const made = await client.create<ConfigMap>(builtinKinds.configMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a' },
    data: { key: 'value' },
  });
  const held: Stored<ConfigMap> | undefined = await client.get<ConfigMap>(builtinKinds.configMap, 'a');
  expect(held?.data).toEqual({ key: 'value' });
  expect(made.metadata.generation).toBe(0);
});

test('the pauses of the election loop of a running leader or standby are shorter than the restart threshold', async () => {
  const server = await openServer();
  const one = stand(server, 'one');
  await one.elected;
  const two = stand(server, 'two');
  await until('the leader renewed', () => server.seen.filter((line) => line.startsWith('PATCH')).length >= 3);
  for (const candidate of [one, two]) {
    expect(candidate.deadAfterMs).toBe(21_000);
    expect(candidate.silenceMs()).toBeLessThan(candidate.deadAfterMs);
  }
});
