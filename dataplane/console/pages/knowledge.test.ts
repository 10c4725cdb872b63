import { expect, test } from 'vitest';
import type { Collection } from '#contracts/retrieval';
import { en } from '../words/en.ts';
import { collectionStatePart } from './knowledge.ts';

const collection = { collection_id: 'c', status: 'ready' } as Collection;
const reindex = { version: 2, embedding_profile_id: 'p', documents_total: 10, documents_done: 3, failure: null };
const shown = async (change: Partial<Collection>): Promise<string> =>
  String(await collectionStatePart(en, { ...collection, ...change }));

test('an index that is being built shows its progress and polls again', async () => {
  const text = await shown({ reindex: { ...reindex, state: 'building' } });
  expect(text).toContain('A new index is being built: 3/10');
  expect(text).toMatch(/<progress max="10" value="3"/);
  expect(text).toContain('hx-get="/knowledge/c/state" hx-trigger="every 2s"');
});

test('the page of an index that could not be built names the failure and the remedy, and does not poll', async () => {
  const text = await shown({ reindex: { ...reindex, state: 'failed', failure: 'model_unavailable <b>' } });
  expect(text).toContain(en.know.reindexFailed);
  expect(text).toContain('model_unavailable &lt;b&gt;');
  expect(text).toContain(en.know.reindexFailedText);
  expect(text).not.toContain('hx-get');
});

test('an index without documents has a progress bar with an end, and a complete index has no progress bar', async () => {
  expect(await shown({ reindex: { ...reindex, state: 'building', documents_total: 0, documents_done: 0 } })).toMatch(
    /<progress max="1" value="0"/,
  );
  expect(await shown({})).not.toMatch(/progress|hx-get/);
});
