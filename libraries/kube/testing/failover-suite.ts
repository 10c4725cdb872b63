import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import type { ElectorOptions } from './elector-process.ts';
import { type ElectionServer, type Elector, openCounters, startElector } from './start-elector.ts';

const quick = { leaseMs: 2_000, renewDeadlineMs: 1_200, retryMs: 300 };

async function start(place: ElectionServer, identity: string, options: Partial<ElectorOptions> = {}): Promise<Elector> {
  const elector = await startElector(place, identity, { times: quick, ...options });
  onTestFinished(() => elector[Symbol.asyncDispose]());
  return elector;
}

/** How processes take over from each other, wherever leases are kept. */
export function testFailover(open: () => Promise<ElectionServer>): void {
  test('another process leads after a crash, and at once after an orderly end', async () => {
    const place = await open();
    await using _ledgers = await openCounters(place);
    const first = await start(place, 'first');
    await until('the first leads', () => first.count('wrote') > 0);
    const second = await start(place, 'second');
    first.child.kill('SIGKILL');
    await until('the second leads', () => second.count('wrote') > 0);
    const third = await start(place, 'third', { times: { ...quick, leaseMs: 600_000 } });
    second.child.kill('SIGTERM');
    await until('the third leads', () => third.count('wrote') > 0);
    await until('the second says that it gave the lease back', () => second.said('released'));
    expect(third.count('refused')).toBe(0);
  });

  test.each([
    ['sends none of its writes', false],
    ['has none of its writes accepted, even past the fence', true],
  ])('a leader that was frozen beyond its lease %s', async (_name, isReckless) => {
    const place = await open();
    await using ledgers = await openCounters(place);
    const frozen = await start(place, 'frozen', { isReckless });
    await until('it leads', () => frozen.count('wrote') > 10);
    const other = await start(place, 'other');
    frozen.child.kill('SIGSTOP');
    await until('the other leads', () => other.count('wrote') > 10);
    const refusedBefore = frozen.count('refused');
    frozen.child.kill('SIGCONT');
    await until('the frozen one woke up', () => frozen.said('lost'));
    if (isReckless) await until('it tried to write', () => frozen.count('refused') > refusedBefore + 10);
    else await until('it ended', () => frozen.child.exitCode === 0);
    await until('the other goes on', () => other.count('wrote') > 30);
    for (const [ledger, sequence] of ledgers.writers) {
      const takenAt = sequence.indexOf('other');
      expect({ ledger, taken: takenAt >= 0 }).toEqual({ ledger, taken: true });
      expect(sequence.slice(takenAt)).not.toContain('frozen');
    }
  });
}
