import { expect, test } from 'vitest';
import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from '#kit/testing/faulty-proxy';
import { until } from '#kit/testing/until';
import { type Clock, systemClock } from '#kit/time/clock';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Lease } from '../client/builtin-types.ts';
import { createElectionClient, electionTimeoutMs } from '../election/election-client.ts';
import { type LeaderElection, type LeaderElectionOptions, startLeaderElection } from '../election/leader-election.ts';
import { refused, statusResponse } from './refusals.ts';
import type { ElectionServer } from './start-elector.ts';

type Durations = { readonly leaseMs: number; readonly renewDeadlineMs: number; readonly retryMs: number };
type CandidateOptions = Partial<LeaderElectionOptions> & { readonly requestTimeoutMs?: number };

/** The durations of an operator. */
const standard: Durations & { readonly requestTimeoutMs: number } = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryMs: 2_000,
  requestTimeoutMs: electionTimeoutMs,
};
/** Lease durations for tests in which a lease expires: the standard durations divided by five. */
const short: Durations = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 400 };
/** Lease durations for tests in which no lease expires, however slow the machine is. */
export const unexpiring: Durations = { leaseMs: 600_000, renewDeadlineMs: 500_000, retryMs: 100 };
const requestTimeoutMs = electionTimeoutMs / 5;
const name = 'operator';

type Candidate = LeaderElection & {
  readonly proxy: FaultyProxy;
  readonly logged: readonly string[];
  readonly slowPaths: () => number;
  /** Resolves after this number of further renewals. */
  renews(times: number): Promise<unknown>;
};

type Election = AsyncDisposable & {
  readonly client: ElectionServer['client'];
  stand(identity: string, options?: CandidateOptions): Promise<Candidate>;
  lease(): Promise<Lease['spec'] | undefined>;
  holder(): Promise<string | undefined>;
};

async function openElection(open: () => Promise<ElectionServer>): Promise<Election> {
  const server = await open();
  const { client } = server;
  const stack = new AsyncDisposableStack();
  const lease = async () => (await client.get<Lease>(builtinKinds.lease, name))?.spec;
  return {
    client,
    stand: (identity, options = {}) => startCandidate(server, stack, identity, options),
    lease,
    holder: async () => (await lease())?.holderIdentity,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startCandidate(
  { access: { url, caPem, clientCertificate }, client: { namespace } }: ElectionServer,
  stack: AsyncDisposableStack,
  identity: string,
  options: CandidateOptions,
): Promise<Candidate> {
  const proxy = stack.use(await startFaultyProxy(url, { ca: caPem, ...clientCertificate }));
  const credentials = { authorization: () => undefined };
  const client = stack.use(
    createElectionClient({ requestTimeoutMs, ...options, url: proxy.url, namespace, credentials }),
  );
  const logged: string[] = [];
  let slowPaths = 0;
  const log = (event: string, fields: object = {}): void => void logged.push(`${event} ${JSON.stringify(fields)}`);
  const logger = { info: log, warn: log } as unknown as LeaderElectionOptions['logger'];
  const meter = {
    leading() {},
    slowPath() {
      slowPaths += 1;
    },
  };
  const election = stack.use(startLeaderElection({ client, name, identity, logger, meter, ...short, ...options }));
  stack.defer(() => {
    proxy.choose = () => pass;
  });
  const renewals = (): number => proxy.passed.filter((line) => line === 'PATCH 200').length;
  return Object.assign(election, {
    proxy,
    logged,
    slowPaths: () => slowPaths,
    renews(times: number) {
      const expected = renewals() + times;
      return until(`${identity} renews ${times} times`, () => renewals() >= expected);
    },
  });
}

const pass: Fault = { kind: 'pass' };
const silence: Fault = { kind: 'silence' };
const isWatch = ({ path }: ProxiedRequest): boolean => path.includes('watch=');

/** Injects a fault into the next `times` patches of a proxy. @returns the number of remaining faults */
function failPatches(proxy: FaultyProxy, fault: Fault, times: number): () => number {
  let left = times;
  proxy.choose = ({ method }) => {
    if (method !== 'PATCH' || left === 0) return pass;
    left -= 1;
    return fault;
  };
  return () => left;
}

/**
 * The behaviour of an election with a faulty server and network, on any server of leases. The tests run concurrently:
 * `open` returns a separate namespace for each. `deadConnections` are the durations of the test about dead connections.
 */
export function testLeaseClient(
  open: () => Promise<ElectionServer>,
  { deadConnections = standard }: { readonly deadConnections?: CandidateOptions } = {},
): void {
  const concurrent = (title: string, run: (election: Election) => Promise<void>): void => {
    test.concurrent(title, async () => {
      await using election = await openElection(open);
      await run(election);
    });
  };

  concurrent('a leader whose connections died without a reset renews over new ones in time', async (election) => {
    const one = await election.stand('one', deadConnections);
    await one.elected;
    const two = await election.stand('two', deadConnections);
    await one.renews(1);
    const before = one.proxy.connections();
    one.proxy.silence();
    await one.renews(2);
    expect(one.proxy.connections()).toBeGreaterThan(before);
    expect([one.writesAllowed(), two.writesAllowed()]).toEqual([true, false]);
    expect(await election.lease()).toMatchObject({ holderIdentity: one.holder, leaseTransitions: 0 });
  });

  concurrent('a standby whose watch connection died acquires the lease when it expires', async (election) => {
    const one = await election.stand('one');
    await one.elected;
    const two = await election.stand('two');
    await one.renews(2);
    two.proxy.silence();
    await one.renews(1);
    one.proxy.choose = () => silence;
    const overlap = two.elected.then(() => one.writesAllowed());
    expect(await one.lost).toBe('not_renewed');
    expect(await overlap).toBe(false);
    expect(await election.lease()).toMatchObject({ holderIdentity: two.holder, leaseTransitions: 1 });
  });

  for (const [label, fault, times] of [
    ['with 500 twice', refused(500), 2],
    ['not at all once', silence, 1],
  ] as const) {
    concurrent(`a leader whose renewal is answered ${label} keeps the lease`, async (election) => {
      const one = await election.stand('one', unexpiring);
      await one.elected;
      const left = failPatches(one.proxy, fault, times);
      await one.renews(2);
      expect(left()).toBe(0);
      expect([one.writesAllowed(), await election.holder()]).toEqual([true, one.holder]);
    });
  }

  for (const [label, fault] of [
    ['was lost', { kind: 'lost', ending: 'silence' }],
    ['was 500', { kind: 'rewrite', rewrite: () => statusResponse(500) }],
    ['was 409', { kind: 'rewrite', rewrite: () => statusResponse(409) }],
  ] as const) {
    concurrent(
      `a leader keeps the lease after a renewal that succeeded but whose response ${label}`,
      async (election) => {
        const one = await election.stand('one', unexpiring);
        await one.elected;
        await one.renews(1);
        const before = one.slowPaths();
        failPatches(one.proxy, fault, 1);
        await until('the leader has read the lease', () => one.slowPaths() > before);
        await one.renews(2);
        expect(one.writesAllowed()).toBe(true);
        expect(await election.lease()).toMatchObject({ holderIdentity: one.holder, leaseTransitions: 0 });
      },
    );
  }

  concurrent('a leader whose renewal conflicts with another holder loses its leadership', async (election) => {
    const one = await election.stand('one', unexpiring);
    await one.elected;
    await election.client.patch<Lease>(builtinKinds.lease, name, [
      { op: 'add', path: '/spec/holderIdentity', value: 'thief' },
    ]);
    expect(await one.lost).toBe('taken');
    expect([one.writesAllowed(), await election.holder()]).toEqual([false, 'thief']);
  });

  concurrent('one of five standbys acquires a released lease, and the others conflict', async (election) => {
    const first = await election.stand('first', unexpiring);
    await first.elected;
    const others = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((one) => election.stand(one, unexpiring)));
    await until('all of them watch', () =>
      others.every(({ proxy }) => proxy.passed.some((line) => line === 'GET 200')),
    );
    await first[Symbol.asyncDispose]();
    const winner = await Promise.race(others.map((one) => one.elected.then(() => one)));
    await winner.renews(2);
    expect(others.filter((one) => one.writesAllowed())).toEqual([winner]);
    expect(await election.lease()).toMatchObject({ holderIdentity: winner.holder, leaseTransitions: 1 });
    expect(others.filter(({ proxy }) => proxy.passed.includes('PATCH 200'))).toEqual([winner]);
    const attempts = others.flatMap(({ proxy }) => proxy.passed.filter((line) => line.startsWith('PATCH')));
    expect(attempts.length).toBeLessThan(100);
  });

  for (const skewMs of [-86_400_000, 86_400_000]) {
    const title = `a standby with a clock skew of ${skewMs} ms acquires the lease when it has expired, and not before`;
    concurrent(title, async (election) => {
      const one = await election.stand('one');
      await one.elected;
      const clock: Clock = { now: systemClock.now, date: () => new Date(Date.now() + skewMs) };
      const two = await election.stand('two', { clock });
      // Nine retry periods of 400 ms are longer than the lease of 3 s.
      await one.renews(9);
      expect([one.writesAllowed(), two.writesAllowed(), await election.holder()]).toEqual([true, false, one.holder]);
      expect(two.proxy.passed.filter((line) => line.startsWith('PATCH'))).toEqual([]);
      one.proxy.choose = () => refused(500);
      const overlap = two.elected.then(() => one.writesAllowed());
      expect(await overlap).toBe(false);
      expect(await election.holder()).toBe(two.holder);
      await two.renews(2);
      expect(two.writesAllowed()).toBe(true);
    });
  }

  concurrent(
    'a candidate becomes the leader when the server is back, and its log names no server',
    async (election) => {
      const one = await election.stand('one');
      one.proxy.choose = (request) => (isWatch(request) ? silence : refused(500));
      await until('a request failed', () => one.proxy.connections() > 0);
      one.proxy.choose = () => pass;
      await one.elected;
      expect(await election.holder()).toBe(one.holder);
      expect(one.logged.join('\n')).not.toMatch(/127\.0\.0\.1|http/);
    },
  );
}
