import { checkTopic } from '../../check-topic.ts';
import type { HintQueue } from '../../ports.ts';
import { QueueUnavailableError } from '../../queue-error.ts';
import { FollowedTopic } from './followed-topic.ts';
import { type NatsOptions, NatsStream } from './nats-stream.ts';

export type { NatsOptions } from './nats-stream.ts';

/** Hints are kept for this long: a worker that was disconnected for longer reads its table anyway. */
const keptHours = 24;

/**
 * Notifications in a stream of NATS JetStream, which keeps the last notification of each topic. The client connects
 * with the first call, and reconnects after each loss.
 */
export function createNatsQueue(options: NatsOptions): HintQueue {
  const stream = new NatsStream(options, { mostOfSubject: 1, hours: keptHours });
  const topics = new Map<string, FollowedTopic>();
  return {
    async publish(topic) {
      checkTopic(topic);
      await available(() => stream.publish(topic));
    },
    async subscribe(topic, onHint) {
      checkTopic(topic);
      const followed = topics.get(topic) ?? new FollowedTopic(stream, topic);
      topics.set(topic, followed);
      // A separate function distinguishes this subscription from others with the same `onHint`.
      const subscriber = (): void => onHint();
      const end = async (): Promise<void> => {
        if (followed.remove(subscriber) > 0) return;
        if (topics.get(topic) === followed) topics.delete(topic);
        await followed.end();
      };
      try {
        await available(() => followed.add(subscriber));
      } catch (error) {
        await end();
        throw error;
      }
      return { [Symbol.asyncDispose]: end };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...topics.values()].map((topic) => topic.end()));
      await stream[Symbol.asyncDispose]();
    },
  };
}

/** Errors of the driver may quote addresses, so that they are not passed on. */
async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw new QueueUnavailableError(error instanceof Error ? error.name : 'unknown');
  }
}
