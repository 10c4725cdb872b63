import { expect, test } from 'vitest';
import { namedCollection } from './named-collection.ts';
import type { StoredCollection } from './retrieval-client.ts';

const client = {
  listCollections: async () => [{ name: 'travel' } as StoredCollection],
  getCollection: () => Promise.reject(new Error('a name is not an id')),
};

test('an unknown collection is answered with the name that was probably meant, else with the collections that are resources', async () => {
  expect((await namedCollection(client, 'travel')).name).toBe('travel');
  const sentence = 'There is no collection';
  await expect(namedCollection(client, 'travle')).rejects.toThrow(
    `${sentence} travle that the caller may read. Did you mean travel?`,
  );
  await expect(namedCollection(client, 'recipes')).rejects.toThrow(
    `${sentence} recipes that the caller may read. "portcullis get collections" shows those that are resources`,
  );
});
