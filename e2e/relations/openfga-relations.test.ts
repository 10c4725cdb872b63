import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openOpenFgaRelations } from '#relations/adapters/openfga/openfga-relations';
import { controlPlane } from '#relations/model';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { relationsSuite } from '../../dataplane/relations/testing/relations-suite.ts';
import { until } from '../support/until.ts';
import { missingOpenFga, type OpenFgaServer, onOpenFga, startOpenFga } from './openfga-server.ts';

const tuple = { subject: 'user:a', relation: 'administer', object: controlPlane };

async function expectUnavailable(relations: Relations): Promise<void> {
  await expect(relations.check('user:a', 'administer', controlPlane)).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.grant([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.revoke([tuple])).rejects.toBeInstanceOf(RelationsUnavailableError);
  await expect(relations.listTuples({ limit: 1 })).rejects.toBeInstanceOf(RelationsUnavailableError);
}

describe.skipIf(missingOpenFga !== undefined)(onOpenFga('relations in OpenFGA'), () => {
  let server: OpenFgaServer;
  beforeAll(async () => {
    server = await startOpenFga();
  });
  afterAll(() => server?.end());
  const open = (storeName: string = randomUUID()): Promise<Relations> =>
    openOpenFgaRelations({ url: server.url, storeName });
  const ask = async (path: string) => (await fetch(new URL(path, server.url))).json();

  relationsSuite(open);

  test('replicas that start at once share one store, and later ones find it', async () => {
    const storeName = randomUUID();
    const replicas = await Promise.all(Array.from({ length: 4 }, () => open(storeName)));
    await replicas[0]?.grant([tuple]);
    for (const replica of [...replicas, await open(storeName)]) {
      expect(await replica.check('user:a', 'administer', controlPlane)).toBe(true);
    }
  });

  test.each(['ab', 'a'.repeat(65), 'a*b', ''])(
    'a name of a store that OpenFGA does not take is refused: %s',
    async (storeName) => {
      await expect(open(storeName)).rejects.toThrow('the name of the store in OpenFGA must have 3 to 64');
    },
  );

  test('the model is written once and found again', async () => {
    const storeName = randomUUID();
    await open(storeName);
    await open(storeName);
    const { stores } = (await ask(`/stores?name=${storeName}`)) as { stores: readonly { id: string }[] };
    const { authorization_models: models } = (await ask(`/stores/${stores[0]?.id}/authorization-models`)) as {
      authorization_models: readonly unknown[];
    };
    expect([stores.length, models.length]).toEqual([1, 1]);
  });

  test('a token is sent where one is asked for; without it nothing opens', async () => {
    await using guarded = await startOpenFga({ token: 'hunter2' });
    const relations = await openOpenFgaRelations({ url: guarded.url, storeName: 'store', token: 'hunter2' });
    await relations.grant([tuple]);
    expect(await relations.check('user:a', 'administer', controlPlane)).toBe(true);
    for (const token of [undefined, 'other']) {
      const opening = openOpenFgaRelations({
        url: guarded.url,
        storeName: 'store',
        ...(token === undefined ? {} : { token }),
      });
      await expect(opening).rejects.toBeInstanceOf(RelationsUnavailableError);
      await expect(opening).rejects.not.toThrow('hunter2');
    }
  });

  test('a server that stands still, and one that died, are unavailability', async () => {
    await using other = await startOpenFga();
    const relations = await openOpenFgaRelations({ url: other.url, storeName: 'store', timeoutMs: 500 });
    await relations.grant([tuple]);
    other.child.kill('SIGSTOP');
    // Its threads stop one after the other; one that still runs still answers.
    await until('all of it stands still', () =>
      relations
        .check('user:a', 'administer', controlPlane)
        .catch(() => 'none')
        .then((answer) => answer === 'none'),
    );
    await expectUnavailable(relations);
    other.child.kill('SIGCONT');
    // The change that nobody answered may have been made since: either answer is right.
    await until('it answers again', async () => (await relations.check('user:a', 'administer', controlPlane)) || true);
    await other.end();
    await expectUnavailable(relations);
    await expect(openOpenFgaRelations({ url: other.url, storeName: 'store' })).rejects.toBeInstanceOf(
      RelationsUnavailableError,
    );
  });
});
