import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { connectSql, passwordFrom } from '#sql/connect';
import { missingPostgres, onPostgres, startTestServer, testServer } from '#sql/testing/test-database';
import { temporaryFolder } from '../../e2e/support/temporary-folder.ts';
import { until } from '../../e2e/support/until.ts';
import { awaitDatabase } from './await-database.ts';

/** A port where nobody listens, for as long as nobody takes it. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const open = (port: number, password = (): string => 'none') =>
  connectSql({ url: `postgres://portcullis@127.0.0.1:${port}/portcullis`, applicationName: 'test', password });
const patience = { everyMs: 20, onAway: () => undefined };

describe('a database that nobody serves', () => {
  test('is waited for until the patience is over, and then told', async () => {
    await using database = open(await freePort());
    const reasons: string[] = [];
    // Longer than the first look takes on a busy machine.
    const waited = awaitDatabase(database, { ...patience, patienceMs: 1_000, onAway: (one) => reasons.push(one) });
    await expect(waited).rejects.toMatchObject({ code: 'sql_unavailable', reason: 'ECONNREFUSED' });
    expect(reasons).toEqual(['ECONNREFUSED']);
  });

  test('keeps nobody who is told to end', async () => {
    await using database = open(await freePort());
    const stop = new AbortController();
    const onAway = (): void => stop.abort();
    const waited = awaitDatabase(database, { ...patience, patienceMs: 60_000, onAway, signal: stop.signal });
    await expect(waited).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('a database'), () => {
  test('that comes later is waited for', async () => {
    using folder = temporaryFolder();
    const port = await freePort();
    const password = (): string => passwordFrom(`${folder.path}/password`)();
    await using database = open(port, password);
    const reasons: string[] = [];
    const waited = awaitDatabase(database, { ...patience, patienceMs: 60_000, onAway: (one) => reasons.push(one) });
    await until('it was asked in vain', () => reasons.length > 0);
    await using _server = await startTestServer({ folder: folder.path, listen: `127.0.0.1:${port}` });
    await waited;
  });

  test('that is there is not waited for', async () => {
    const server = await testServer();
    const password = passwordFrom(server.passwordFile);
    await using database = connectSql({ url: server.process.url, applicationName: 'test', password });
    await awaitDatabase(database, { ...patience, patienceMs: 0, onAway: () => expect.unreachable() });
  });
});
