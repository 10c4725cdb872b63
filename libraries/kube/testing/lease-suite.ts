import type { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '#kit/time/clock';
import { until } from '../../../e2e/support/until.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Lease } from '../client/builtin-types.ts';
import { createElectionClient, electionTimeoutMs } from '../election/election-client.ts';
import { type LeaderElection, type LeaderElectionOptions, startLeaderElection } from '../election/leader-election.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import type { ElectionServer } from './start-elector.ts';

/** As an operator has them, divided by five. */
const quick = { leaseMs: 3_000, renewDeadlineMs: 2_000, retryMs: 400 } as const;
const quickTimeoutMs = electionTimeoutMs / 5;
/** A lease that no test waits for. */
const long = { leaseMs: 600_000, renewDeadlineMs: 500_000, retryMs: 100 } as const;
const name = 'operator';

type Candidate = LeaderElection & {
  readonly proxy: FaultyProxy;
  readonly said: readonly string[];
  readonly slowPaths: () => number;
  /** Resolves when it has renewed its lease so many times more. */
  renews(times: number): Promise<unknown>;
};

async function stand(
  { access, client: { namespace } }: ElectionServer,
  identity: string,
  options: Partial<LeaderElectionOptions> & { readonly requestTimeoutMs?: number } = {},
): Promise<Candidate> {
  const proxy = await startFaultyProxy(access);
  const { requestTimeoutMs = quickTimeoutMs } = options;
  const credentials = { authorization: () => undefined };
  const client = createElectionClient({ url: proxy.url, namespace, credentials, requestTimeoutMs });
  const said: string[] = [];
  let slowPaths = 0;
  const log = (event: string, fields: object = {}): void => void said.push(`${event} ${JSON.stringify(fields)}`);
  const logger = { info: log, warn: log } as unknown as LeaderElectionOptions['logger'];
  const meter = {
    leading() {},
    slowPath() {
      slowPaths += 1;
    },
  };
  const election = startLeaderElection({ client, name, identity, logger, meter, ...quick, ...options });
  onTestFinished(async () => {
    proxy.fate = () => 'served';
    await election[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });
  const renewals = (): number => proxy.passed.filter((line) => line === 'PATCH 200').length;
  return Object.assign(election, {
    proxy,
    said,
    slowPaths: () => slowPaths,
    renews(times: number) {
      const wanted = renewals() + times;
      return until(`${identity} renews ${times} times`, () => renewals() >= wanted);
    },
  });
}

const isPatch = (incoming: IncomingMessage): boolean => incoming.method === 'PATCH';
const isWatch = (incoming: IncomingMessage): boolean => incoming.url?.includes('watch=') === true;

/** How candidates get on with a server and a network that misbehave, wherever leases are kept. */
export function testLeaseClient(open: () => Promise<ElectionServer>): void {
  const leaseOf = async ({ client }: ElectionServer): Promise<Lease['spec'] | undefined> =>
    (await client.get<Lease>(builtinKinds.lease, name))?.spec;
  const holderOf = async (place: ElectionServer): Promise<string | undefined> => (await leaseOf(place))?.holderIdentity;

  test('a leader whose connections died without a word renews over new ones, with the times of an operator', {
    timeout: 60_000,
  }, async () => {
    const place = await open();
    const times = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };
    const one = await stand(place, 'one', { ...times, requestTimeoutMs: electionTimeoutMs });
    await one.elected;
    const two = await stand(place, 'two', { ...times, requestTimeoutMs: electionTimeoutMs });
    await one.renews(1);
    const before = one.proxy.connections();
    one.proxy.silence();
    await one.renews(2);
    expect(one.proxy.connections()).toBeGreaterThan(before);
    expect([one.writesAllowed(), two.writesAllowed()]).toEqual([true, false]);
    expect(await holderOf(place)).toBe(one.holder);
    expect(await leaseOf(place)).toMatchObject({ leaseTransitions: 0 });
  });

  test('a standby whose watch died without a word takes the lease when nobody renews it', {
    timeout: 60_000,
  }, async () => {
    const place = await open();
    const one = await stand(place, 'one');
    await one.elected;
    const two = await stand(place, 'two');
    await one.renews(2);
    two.proxy.silence();
    await one.renews(1);
    one.proxy.fate = () => 'unanswered';
    const led = two.elected.then(() => one.writesAllowed());
    expect(await one.lost).toBe('not_renewed');
    expect(await led).toBe(false);
    expect(await holderOf(place)).toBe(two.holder);
  });

  test.each([
    ['500', { refused: 500 }, 2],
    ['nothing', 'unanswered', 1],
  ] as const)(
    'a leader that is answered %s once or twice goes on, and one that is answered so for ever loses',
    async (_what, fate, times) => {
      const place = await open();
      const one = await stand(place, 'one');
      await one.elected;
      const two = await stand(place, 'two');
      let left: number = times;
      one.proxy.fate = (incoming) => {
        if (!isPatch(incoming) || left === 0) return 'served';
        left -= 1;
        return fate;
      };
      await one.renews(2);
      expect(left).toBe(0);
      expect([one.writesAllowed(), await holderOf(place)]).toEqual([true, one.holder]);
      one.proxy.fate = (incoming) => (isPatch(incoming) ? fate : 'served');
      const led = two.elected.then(() => one.writesAllowed());
      expect(await one.lost).toBe('not_renewed');
      expect(await led).toBe(false);
      expect(await holderOf(place)).toBe(two.holder);
      expect(await leaseOf(place)).toMatchObject({ leaseTransitions: 1 });
    },
  );

  test.each([
    ['nothing', 'done_unanswered'],
    ['500', { doneBut: 500 }],
    ['409', { doneBut: 409 }],
  ] as const)(
    'a renewal that happened and was answered with %s costs a look at the lease, not the lease',
    async (_what, fate) => {
      const place = await open();
      const one = await stand(place, 'one');
      await one.elected;
      await one.renews(1);
      const before = one.slowPaths();
      let left = 1;
      one.proxy.fate = (incoming) => {
        if (!isPatch(incoming) || left === 0) return 'served';
        left -= 1;
        return fate;
      };
      await until('it looked at the lease', () => one.slowPaths() > before);
      await one.renews(2);
      expect([one.writesAllowed(), await holderOf(place)]).toEqual([true, one.holder]);
      expect(await leaseOf(place)).toMatchObject({ leaseTransitions: 0 });
    },
  );

  test('a leader that meets a conflict and another holder behind it leads no more', async () => {
    const place = await open();
    const one = await stand(place, 'one', long);
    await one.elected;
    await place.client.patch<Lease>(builtinKinds.lease, name, [
      { op: 'add', path: '/spec/holderIdentity', value: 'thief' },
    ]);
    expect(await one.lost).toBe('taken');
    expect([one.writesAllowed(), await holderOf(place)]).toEqual([false, 'thief']);
  });

  test('of many that try for a lease that was given back at one time one gets it, the others meet conflicts', async () => {
    const place = await open();
    const first = await stand(place, 'first', long);
    await first.elected;
    const others = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((identity) => stand(place, identity, long)));
    await until('all of them watch', () =>
      others.every(({ proxy }) => proxy.passed.some((line) => line === 'GET 200')),
    );
    await first[Symbol.asyncDispose]();
    const winner = await Promise.race(others.map((one) => one.elected.then(() => one)));
    const tries = () => others.flatMap(({ proxy }) => proxy.passed.filter((line) => line.startsWith('PATCH')));
    await until('the winner renews', () => winner.proxy.passed.filter((line) => line === 'PATCH 200').length > 2);
    expect(others.filter((one) => one.writesAllowed())).toEqual([winner]);
    expect(await leaseOf(place)).toMatchObject({ holderIdentity: winner.holder, leaseTransitions: 1 });
    const wins = others.filter(({ proxy }) => proxy.passed.includes('PATCH 200'));
    expect(wins).toEqual([winner]);
    expect(tries().length).toBeLessThan(100);
  });

  test.each([-86_400_000, 86_400_000])(
    'a clock that differs by %i ms neither takes a lease that is held nor leaves one that is not',
    async (skewMs) => {
      const place = await open();
      const one = await stand(place, 'one');
      await one.elected;
      const clock: Clock = { now: systemClock.now, date: () => new Date(Date.now() + skewMs) };
      const two = await stand(place, 'two', { clock });
      // For longer than a lease.
      await one.renews(9);
      expect([one.writesAllowed(), two.writesAllowed(), await holderOf(place)]).toEqual([true, false, one.holder]);
      expect(two.proxy.passed.filter((line) => line.startsWith('PATCH'))).toEqual([]);
      one.proxy.fate = () => ({ refused: 500 });
      const led = two.elected.then(() => one.writesAllowed());
      expect(await led).toBe(false);
      expect(await holderOf(place)).toBe(two.holder);
      await two.renews(2);
      expect(two.writesAllowed()).toBe(true);
    },
  );

  test('a server that is gone and comes back has a leader again, and what is logged names no server', async () => {
    const place = await open();
    const one = await stand(place, 'one');
    one.proxy.fate = (incoming) => (isWatch(incoming) ? 'unanswered' : { refused: 500 });
    await until('it asked in vain', () => one.proxy.connections() > 0);
    one.proxy.fate = () => 'served';
    await one.elected;
    expect(await holderOf(place)).toBe(one.holder);
    expect(one.said.join('\n')).not.toMatch(/127\.0\.0\.1|http/);
  });
}
