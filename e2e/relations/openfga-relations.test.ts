import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { createFakeClock } from '#kit/testing/fake-clock';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { openStoreRegistry, type StoreRegistry } from '#relations/adapters/openfga/store-registry';
import { controlPlane } from '#relations/model';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { reachSuite } from '#relations/testing/reach-suite';
import { relationsSuite } from '#relations/testing/relations-suite';
import { connectSql } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { missingOpenFga, type OpenFgaServer, onOpenFga, startOpenFga } from './openfga-server.ts';

const tuple = { subject: 'user:a', relation: 'administer', object: controlPlane };

async function expectUnavailable(relations: Relations): Promise<void> {
  await expect(relations.check('user:a', 'administer', controlPlane)).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.grant([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.revoke([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.listTuples({ limit: 1 })).rejects.toBeInstanceOf(RelationsUnavailableError);
}

const isMissing = missingOpenFga !== undefined || missingPostgres !== undefined;

describe.skipIf(isMissing)(onPostgres(onOpenFga('relations in OpenFGA')), () => {
  let server: OpenFgaServer;
  let opened: TestDatabase;
  let stores: StoreRegistry;
  beforeAll(async () => {
    server = await startOpenFga();
    opened = await openTestDatabase();
    stores = await openStoreRegistry(opened.database);
  });
  afterAll(async () => {
    await server?.end();
    await opened?.[Symbol.asyncDispose]();
  });
  const open = (storeName: string = randomUUID(), registry = stores): Promise<Relations> =>
    openOpenFgaRelations({ url: server.url, storeName, stores: registry });
  const storesNamed = async (storeName: string): Promise<readonly string[]> =>
    ((await ask(`/stores?name=${storeName}`)) as { stores: readonly { id: string }[] }).stores.map(({ id }) => id);
  const ask = async (path: string) => (await fetch(new URL(path, server.url))).json();

  relationsSuite(open);
  reachSuite(open);

  test('OpenFGA replicas that start concurrently share one store, and later replicas find it', async () => {
    const storeName = randomUUID();
    const replicas = await Promise.all(Array.from({ length: 4 }, () => open(storeName)));
    await replicas[0]?.grant([tuple]);
    for (const replica of [...replicas, await open(storeName)]) {
      expect(await replica.check('user:a', 'administer', controlPlane)).toBe(true);
    }
  });

  test('a replica that was suspended before it claimed its OpenFGA store uses the store that another replica claimed first', async () => {
    const storeName = randomUUID();
    const [late, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: StoreRegistry = {
      find: stores.find,
      async claim(...claim) {
        late.resolve();
        await turn.promise;
        return stores.claim(...claim);
      },
    };
    const opening = open(storeName, slow);
    await late.promise;
    const [made] = await storesNamed(storeName);
    // The other replicas do not find this store either: they create new stores, one of which is claimed.
    await fetch(new URL(`/stores/${made}`, server.url), { method: 'DELETE' });
    const others = await Promise.all([open(storeName), open(storeName)]);
    await others[0]?.grant([tuple]);
    turn.resolve();
    const replica = await opening;
    for (const one of [...others, replica]) expect(await one.check('user:a', 'administer', controlPlane)).toBe(true);
    await replica.revoke([tuple]);
    for (const one of others) expect(await one.check('user:a', 'administer', controlPlane)).toBe(false);
  });

  test('an unclaimed OpenFGA store is not used, however old it is', async () => {
    const storeName = randomUUID();
    const replica = await open(storeName);
    await replica.grant([tuple]);
    const claimed = await storesNamed(storeName);
    const create = { method: 'POST', headers: { 'content-type': 'application/json' } };
    await fetch(new URL('/stores', server.url), { ...create, body: JSON.stringify({ name: storeName }) });
    expect(await storesNamed(storeName)).toHaveLength(2);
    expect(await (await open(storeName)).check('user:a', 'administer', controlPlane)).toBe(true);
    // A claimed store that was deleted is replaced for all replicas, and earlier grants are lost.
    await fetch(new URL(`/stores/${claimed[0]}`, server.url), { method: 'DELETE' });
    const after = await Promise.all([open(storeName), open(storeName)]);
    for (const one of after) expect(await one.check('user:a', 'administer', controlPlane)).toBe(false);
    await after[0]?.grant([tuple]);
    expect(await after[1]?.check('user:a', 'administer', controlPlane)).toBe(true);
  });

  test('the OpenFGA relations do not open without the database that stores the claim', async () => {
    await using gone = connectSql({ url: 'postgres://me@127.0.0.1:1/a', applicationName: 'test' });
    await expect(openStoreRegistry(gone)).rejects.toBeInstanceOf(RelationsUnavailableError);
  });

  test.each(['ab', 'a'.repeat(65), 'a*b', ''])(
    'a store name that OpenFGA does not accept is refused: %s',
    async (storeName) => {
      await expect(open(storeName)).rejects.toThrow('the name of the store in OpenFGA must have 3 to 64');
    },
  );

  test('the authorization model is written to OpenFGA once and found again', async () => {
    const storeName = randomUUID();
    await open(storeName);
    await open(storeName);
    const { stores } = (await ask(`/stores?name=${storeName}`)) as { stores: readonly { id: string }[] };
    const { authorization_models: models } = (await ask(`/stores/${stores[0]?.id}/authorization-models`)) as {
      authorization_models: readonly unknown[];
    };
    expect([stores.length, models.length]).toEqual([1, 1]);
  });

  test('the token is sent to an OpenFGA server that requires it; without the token the relations do not open', async () => {
    await using guarded = await startOpenFga({ token: 'hunter2' });
    const file = (token: string) => ({ first: () => token });
    const place = { url: guarded.url, storeName: 'store', stores };
    const relations = await openOpenFgaRelations({ ...place, tokenFile: file('hunter2') });
    await relations.grant([tuple]);
    expect(await relations.check('user:a', 'administer', controlPlane)).toBe(true);
    for (const token of [undefined, 'other']) {
      const opening = openOpenFgaRelations({ ...place, ...(token === undefined ? {} : { tokenFile: file(token) }) });
      await expect(opening).rejects.toBeInstanceOf(RelationsUnavailableError);
      await expect(opening).rejects.not.toThrow('hunter2');
    }
  });

  test('a changed token file for OpenFGA takes effect, and without the file every check fails', async () => {
    await using guarded = await startOpenFga({ token: 'before,after' });
    using folder = temporaryFolder();
    const path = join(folder.path, 'openfga.token');
    writeFileSync(path, 'wrong\n');
    const clock = createFakeClock();
    const tokenFile = openTokenFile(path, clock);
    const change = (text: string): void => {
      writeFileSync(path, text);
      clock.advance(1_000);
    };
    change('before\n');
    const relations = await openOpenFgaRelations({ url: guarded.url, storeName: 'store', stores, tokenFile });
    await relations.grant([tuple]);
    change('wrong\n');
    await expectUnavailable(relations);
    change('after\nbefore\n');
    expect(await relations.check('user:a', 'administer', controlPlane)).toBe(true);
    change('');
    await expectUnavailable(relations);
    change('after\n');
    expect(await relations.check('user:a', 'administer', controlPlane)).toBe(true);
  });

  test('an OpenFGA server that is suspended or killed is reported as unavailable', async () => {
    await using other = await startOpenFga();
    const relations = await openOpenFgaRelations({ url: other.url, storeName: 'store', stores, timeoutMs: 1_500 });
    await relations.grant([tuple]);
    other.child.kill('SIGSTOP');
    // Threads of OpenFGA stop one after another; a thread that still runs can still answer.
    await until('every thread of the server is stopped', () =>
      relations
        .check('user:a', 'administer', controlPlane)
        .catch(() => 'none')
        .then((answer) => answer === 'none'),
    );
    await expectUnavailable(relations);
    other.child.kill('SIGCONT');
    // The unanswered change may have been executed: both answers are correct.
    await until('it answers again', async () => (await relations.check('user:a', 'administer', controlPlane)) || true);
    await other.end();
    await expectUnavailable(relations);
    await expect(openOpenFgaRelations({ url: other.url, storeName: 'store', stores })).rejects.toBeInstanceOf(
      RelationsUnavailableError,
    );
  });
});
