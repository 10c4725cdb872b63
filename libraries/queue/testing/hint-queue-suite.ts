import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { HintQueue } from '../ports.ts';

/** A separate queue for one test, whose connections the test can break. */
type QueueUnderTest = AsyncDisposable & {
  /** Opens another client of the same queue; the suite disposes it. */
  connect(): Promise<HintQueue>;
  /** Breaks every connection of the clients once; they may connect again. */
  breakConnections(): Promise<void>;
};

function counter() {
  let calls = 0;
  return {
    onHint: () => {
      calls += 1;
    },
    count: () => calls,
  };
}

/** The obligations of every adapter of the port HintQueue. */
export function hintQueueSuite(open: () => Promise<QueueUnderTest>): void {
  describe('hints of a queue', () => {
    test('a hint reaches every subscriber of its topic in every client', async () => {
      await using place = await open();
      await using one = await place.connect();
      await using two = await place.connect();
      const [here, same, there, other] = [counter(), counter(), counter(), counter()];
      await one.subscribe('jobs', here.onHint);
      await one.subscribe('jobs', same.onHint);
      await two.subscribe('jobs', there.onHint);
      await two.subscribe('changes_2', other.onHint);
      await one.publish('jobs');
      await until('it arrives', () => [here, same, there].every(({ count }) => count() > 0));
      expect(other.count()).toBe(0);
      await one.publish('changes_2');
      await until('the other one arrives', () => other.count() > 0);
    });

    test('a hint without a subscriber is published without an error', async () => {
      await using place = await open();
      await using queue = await place.connect();
      await expect(queue.publish('jobs')).resolves.toBeUndefined();
    });

    test('each hint that is published after the previous one arrived is delivered', async () => {
      await using place = await open();
      await using queue = await place.connect();
      const jobs = counter();
      await queue.subscribe('jobs', jobs.onHint);
      for (let hint = 0; hint < 20; hint += 1) {
        const before = jobs.count();
        await queue.publish('jobs');
        await until('it arrives', () => jobs.count() > before);
      }
    });

    test('a burst of hints calls the subscriber after the last one', async () => {
      await using place = await open();
      await using queue = await place.connect();
      await using publisher = await place.connect();
      let work = 0;
      let seen = 0;
      await queue.subscribe('jobs', () => {
        seen = work;
      });
      await Promise.all(
        Array.from({ length: 200 }, () => {
          work += 1;
          return publisher.publish('jobs');
        }),
      );
      await until('the last one is seen', () => seen === 200);
    });

    test('an ended subscription gets no further hints, and other subscriptions of its topic still do', async () => {
      await using place = await open();
      await using queue = await place.connect();
      const [ended, kept] = [counter(), counter()];
      const subscription = await queue.subscribe('jobs', ended.onHint);
      await queue.subscribe('jobs', kept.onHint);
      await subscription[Symbol.asyncDispose]();
      const before = ended.count();
      await queue.publish('jobs');
      await until('it arrives', () => kept.count() > 0);
      expect(ended.count()).toBe(before);
    });

    test('each gap of the connection is a hint for every subscriber, and hints after it arrive', async () => {
      await using place = await open();
      await using queue = await place.connect();
      const [jobs, changes] = [counter(), counter()];
      await queue.subscribe('jobs', jobs.onHint);
      await queue.subscribe('changes', changes.onHint);
      for (let round = 0; round < 3; round += 1) {
        const before = [jobs.count(), changes.count()];
        await place.breakConnections();
        await until('both are called', () => jobs.count() > (before[0] ?? 0) && changes.count() > (before[1] ?? 0));
        const after = jobs.count();
        await until('a hint is published', () => queue.publish('jobs').then(() => true));
        await until('it arrives', () => jobs.count() > after);
      }
    });

    test.each(['', 'A', 'a.b', 'a>', 'a*', '1a', 'a b', 'a'.repeat(41)])('the topic "%s" is refused', async (topic) => {
      await using place = await open();
      await using queue = await place.connect();
      await expect(queue.publish(topic)).rejects.toBeInstanceOf(TypeError);
      await expect(queue.subscribe(topic, () => undefined)).rejects.toBeInstanceOf(TypeError);
      await queue.publish('a'.repeat(40));
    });
  });
}
