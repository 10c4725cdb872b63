import { expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { ElectorOptions } from './elector-process.ts';
import { type ElectionServer, type Elector, openCounters, startElector } from './start-elector.ts';

const short = { leaseMs: 2_000, renewDeadlineMs: 1_200, retryMs: 300 };

async function start(
  server: ElectionServer,
  identity: string,
  options: Partial<ElectorOptions> = {},
): Promise<Elector> {
  const elector = await startElector(server, identity, { times: short, ...options });
  onTestFinished(() => elector[Symbol.asyncDispose]());
  return elector;
}

/** Failover between real processes, on any server of leases. */
export function testFailover(open: () => Promise<ElectionServer>): void {
  test('a standby process becomes the leader after the leader crashed, and immediately after it shut down', async () => {
    const server = await open();
    await using _counters = await openCounters(server);
    const first = await start(server, 'first');
    await until('the first leads', () => first.count('wrote') > 0);
    const second = await start(server, 'second');
    first.child.kill('SIGKILL');
    await until('the second leads', () => second.count('wrote') > 0);
    const third = await start(server, 'third', { times: { ...short, leaseMs: 600_000 } });
    second.child.kill('SIGTERM');
    await until('the third leads', () => third.count('wrote') > 0);
    await until('the second process released the lease', () => second.said('released'));
    expect(third.count('refused')).toBe(0);
  });
}

/** The writes of a leader process that was suspended until its lease had expired, on any server of leases. */
export function testSuspendedLeader(open: () => Promise<ElectionServer>): void {
  test.each([
    ['sends no write when it is resumed', false],
    ['has every write refused by its precondition when it is resumed without a fence', true],
  ])('a leader that was suspended beyond its lease %s', async (_name, isReckless) => {
    const server = await open();
    await using counters = await openCounters(server);
    const suspended = await start(server, 'suspended', { isReckless });
    await until('it leads', () => suspended.count('wrote') > 10);
    const other = await start(server, 'other');
    suspended.child.kill('SIGSTOP');
    await until('the other leads', () => other.count('wrote') > 10);
    const refusedBefore = suspended.count('refused');
    suspended.child.kill('SIGCONT');
    await until('the resumed process lost the leadership', () => suspended.said('lost'));
    if (isReckless)
      await until('the resumed process tried to write', () => suspended.count('refused') > refusedBefore + 10);
    else await until('it exited', () => suspended.child.exitCode === 0);
    await until('the other process still writes', () => other.count('wrote') > 30);
    for (const [counter, sequence] of counters.writers) {
      const failoverAt = sequence.indexOf('other');
      expect({ counter, hasFailedOver: failoverAt >= 0 }).toEqual({ counter, hasFailedOver: true });
      expect(sequence.slice(failoverAt)).not.toContain('suspended');
    }
  });
}
