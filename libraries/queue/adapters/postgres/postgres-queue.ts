import { type Database, SqlUnavailableError } from '#sql/connect';
import { checkTopic } from '../../check-topic.ts';
import type { HintQueue } from '../../ports.ts';
import { QueueUnavailableError } from '../../queue-error.ts';

/** Hints by LISTEN and NOTIFY in the database of the jobs, whose connection for listening is opened by the first subscriber. */
export function createPostgresQueue(database: Database): HintQueue {
  const listener = database.listener();
  return {
    async publish(topic) {
      const channel = channelOf(topic);
      await available(() => database.sql`select pg_notify(${channel}, '')`);
    },
    async subscribe(topic, onHint) {
      const channel = channelOf(topic);
      return available(() => listener.listen(channel, { onNotify: () => onHint(), onGap: onHint }));
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

function channelOf(topic: string): string {
  checkTopic(topic);
  return `portcullis_${topic}`;
}

async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof SqlUnavailableError ? new QueueUnavailableError(error.reason) : error;
  }
}
