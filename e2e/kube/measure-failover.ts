import { type ElectionServer, openCounters, startElector } from '#kube/testing/start-elector';
import { until } from '../support/until.ts';

const patience = { deadlineMs: 60_000 };

/** Seconds from the end of a leader to the first write of the next, with the usual times of a lease. */
export async function measureFailover(place: ElectionServer, signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
  await using _ledgers = await openCounters(place);
  await using first = await startElector(place, 'first');
  await until('the first leads', () => first.count('wrote') > 0, patience);
  await using second = await startElector(place, 'second');
  const before = first.count('wrote');
  await until('both run', () => first.count('wrote') > before + 50, patience);
  const endedAt = Date.now();
  first.child.kill(signal);
  const wrote = await until('the second writes', () => second.said('wrote'), patience);
  return (wrote.at - endedAt) / 1_000;
}

/** Writes of a leader that was frozen beyond its lease, past the fence, on what its successor has written. */
export async function countLateWrites(place: ElectionServer): Promise<number> {
  await using ledgers = await openCounters(place);
  await using frozen = await startElector(place, 'frozen', { isReckless: true });
  await until('it leads', () => frozen.count('wrote') > 10, patience);
  await using other = await startElector(place, 'other');
  frozen.child.kill('SIGSTOP');
  await until('the other leads', () => other.count('wrote') > 10, patience);
  const before = frozen.count('refused');
  frozen.child.kill('SIGCONT');
  await until('the frozen one tried to write', () => frozen.count('refused') > before + 100, patience);
  const late = [...ledgers.writers.values()].map((sequence) => {
    const takenAt = sequence.indexOf('other');
    return sequence.slice(takenAt).filter((writer) => writer === 'frozen').length;
  });
  return late.reduce((sum, one) => sum + one, 0);
}
