import { until } from '#kit/testing/until';
import { type ElectionServer, openCounters, startElector } from '#kube/testing/start-elector';

const slow = { deadlineMs: 60_000 };

/** Seconds from the exit of a leader to the first write of its successor, with the standard lease durations. */
export async function measureFailover(server: ElectionServer, signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
  await using _counters = await openCounters(server);
  await using first = await startElector(server, 'first');
  await until('the first leads', () => first.count('wrote') > 0, slow);
  await using second = await startElector(server, 'second');
  const before = first.count('wrote');
  await until('both run', () => first.count('wrote') > before + 50, slow);
  const endedAt = Date.now();
  first.child.kill(signal);
  const wrote = await until('the second writes', () => second.said('wrote'), slow);
  return (wrote.at - endedAt) / 1_000;
}

/** Writes that an unfenced leader, suspended beyond its lease, made after its successor had written. */
export async function countLateWrites(server: ElectionServer): Promise<number> {
  await using counters = await openCounters(server);
  await using suspended = await startElector(server, 'suspended', { isReckless: true });
  await until('it leads', () => suspended.count('wrote') > 10, slow);
  await using other = await startElector(server, 'other');
  suspended.child.kill('SIGSTOP');
  await until('the other leads', () => other.count('wrote') > 10, slow);
  const before = suspended.count('refused');
  suspended.child.kill('SIGCONT');
  await until('the resumed process tried to write', () => suspended.count('refused') > before + 100, slow);
  const late = [...counters.writers.values()].map((sequence) => {
    const failoverAt = sequence.indexOf('other');
    return sequence.slice(failoverAt).filter((writer) => writer === 'suspended').length;
  });
  return late.reduce((sum, one) => sum + one, 0);
}
