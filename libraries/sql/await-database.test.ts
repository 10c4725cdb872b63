import { describe, expect, test } from 'vitest';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { awaitDatabase } from './await-database.ts';
import { connectSql, passwordFrom } from './connect.ts';
import { missingPostgres, onPostgres, startTestServer, testServer } from './testing/test-database.ts';

const open = (port: number, password = (): string => 'none') =>
  connectSql({ url: `postgres://portcullis@127.0.0.1:${port}/portcullis`, applicationName: 'test', password });
const wait = { everyMs: 20, onUnavailable: () => undefined };

describe('waiting for a database without a server', () => {
  test('waiting for a database fails at the timeout with the reason of the last attempt', async () => {
    await using database = open(await unusedPort());
    const reasons: string[] = [];
    // Timeout that is longer than the first attempt takes on a busy machine.
    const waited = awaitDatabase(database, { ...wait, timeoutMs: 1_000, onUnavailable: (one) => reasons.push(one) });
    await expect(waited).rejects.toMatchObject({ code: 'sql_unavailable', reason: 'ECONNREFUSED' });
    expect(reasons).toEqual(['ECONNREFUSED']);
  });

  test('waiting for a database ends when the signal aborts', async () => {
    await using database = open(await unusedPort());
    const stop = new AbortController();
    const onUnavailable = (): void => stop.abort();
    const waited = awaitDatabase(database, { ...wait, timeoutMs: 60_000, onUnavailable, signal: stop.signal });
    await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('waiting for a database'), () => {
  test('waiting for a database ends when a database that starts later answers', async () => {
    using folder = temporaryFolder();
    const port = await unusedPort();
    const password = (): string => passwordFrom(`${folder.path}/password`)();
    await using database = open(port, password);
    const reasons: string[] = [];
    const waited = awaitDatabase(database, { ...wait, timeoutMs: 60_000, onUnavailable: (one) => reasons.push(one) });
    await until('an attempt failed', () => reasons.length > 0);
    await using _server = await startTestServer({ folder: folder.path, listen: `127.0.0.1:${port}` });
    await waited;
  });

  test('waiting for a database ends immediately when it answers', async () => {
    const server = await testServer();
    const password = passwordFrom(server.passwordFile);
    await using database = connectSql({ url: server.process.url, applicationName: 'test', password });
    await awaitDatabase(database, { ...wait, timeoutMs: 0, onUnavailable: () => expect.unreachable() });
  });
});
