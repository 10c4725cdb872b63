import { describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { openIngest } from '../ingest/testing/open-ingest.ts';
import { changeAcl } from './change-acl.ts';

const note = async () => undefined;

describe.skipIf(missingPostgres !== undefined)(onPostgres('access lists of documents'), () => {
  test('a changed access list of a live document takes effect immediately and is followed as one change', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await openIngest(database);
    await ingest.submit({ docId: 'a', text: 'words' });
    await ingest.drain();
    const { collectionId } = ingest;
    expect(await changeAcl(database, { collectionId, docId: 'a', labels: ['user:x'], note })).toBe('changed');
    const rows = await database.sql`
      select d.labels, d.change_no = c.change_no as newest
      from retrieval.documents d join retrieval.collections c using (collection_id)`;
    expect([...rows]).toEqual([{ labels: ['user:x'], newest: true }]);
  });

  test.each(['submitted', 'claimed', 'written'])(
    'an upsert that was %s before the access list changed does not restore the old access list',
    async (when) => {
      await using opened = await openTestDatabase();
      const { database } = opened;
      let collectionId = '';
      const change = () => changeAcl(database, { collectionId, docId: 'a', labels: ['user:x'], note });
      const ingest = await openIngest(database, {
        onStep: async (step) => {
          if (step === when) expect(await change()).toBe('changed');
        },
      });
      collectionId = ingest.collectionId;
      await ingest.submit({ docId: 'a', text: 'words' });
      if (when === 'submitted') expect(await change()).toBe('changed');
      await ingest.drain();
      const rows = await database.sql`select labels, deleted from retrieval.documents`;
      expect([...rows]).toEqual([{ labels: ['user:x'], deleted: false }]);
    },
  );

  test('an unknown document and a deleted one have no access list', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await openIngest(database);
    const { collectionId } = ingest;
    expect(await changeAcl(database, { collectionId, docId: 'a', labels: [], note })).toBe('not_found');
    await ingest.submit({ docId: 'a', text: 'words' }, { docId: 'a', key: 'later' });
    await ingest.drain();
    expect(await changeAcl(database, { collectionId, docId: 'a', labels: [], note })).toBe('not_found');
  });
});
