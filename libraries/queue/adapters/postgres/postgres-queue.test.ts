import { describe, expect, test } from 'vitest';
import { connectSql } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { QueueUnavailableError } from '../../queue-error.ts';
import { hintQueueSuite } from '../../testing/hint-queue-suite.ts';
import { createPostgresQueue } from './postgres-queue.ts';

test('a queue without its database is unavailable', async () => {
  await using database = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
  await using queue = createPostgresQueue(database);
  await expect(queue.publish('jobs')).rejects.toBeInstanceOf(QueueUnavailableError);
  await expect(queue.subscribe('jobs', () => undefined)).rejects.toBeInstanceOf(QueueUnavailableError);
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('a queue in PostgreSQL'), () => {
  hintQueueSuite(async () => {
    const opened = await openTestDatabase();
    const hints = opened.connect({ applicationName: 'hints' });
    return {
      connect: async () => createPostgresQueue(hints),
      async breakConnections() {
        await opened.database.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'hints' and datname = current_database()`;
      },
      async [Symbol.asyncDispose]() {
        await hints[Symbol.asyncDispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  });
});
