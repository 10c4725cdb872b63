import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { sampleRevision } from '#kube/testing/sample-resources';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { purgeMark } from '#resources/purged-revision';
import { createRecentRevisions } from './recent-revisions.ts';

/** A source of revisions that counts its reads, and a clock that the test sets. */
function open(characters = 2) {
  const asked: string[] = [];
  const heads: string[] = [];
  const marked = new Set<string>();
  const present = new Set<string>();
  const time = { now: 0 };
  const get = async (kind: Kind, name: string) => {
    (kind.metadataOnly === true ? heads : asked).push(name);
    if (!present.has(name)) return undefined;
    const sample = sampleRevision(name);
    const annotations = marked.has(name) ? { [purgeMark]: 'requested' } : {};
    const revision = { ...sample, metadata: { ...sample.metadata, annotations } };
    return { ...revision, spec: { ...revision.spec, definition: 'x'.repeat(characters) } } as Stored<typeof revision>;
  };
  const clock = { now: () => time.now, date: () => new Date(0) };
  return {
    asked,
    heads,
    marked,
    present,
    time,
    revisions: createRecentRevisions({ get } as Pick<KubeClient, 'get'>, clock),
  };
}

test('a revision is read once in ten seconds', async () => {
  const { asked, present, time, revisions } = open();
  present.add('p-1');
  const first = await revisions.read('p-1');
  time.now = 9_999;
  expect(await revisions.read('p-1')).toBe(first);
  expect(asked).toEqual(['p-1']);
  time.now = 10_000;
  present.clear();
  expect(await revisions.read('p-1')).toBeUndefined();
  expect(asked).toEqual(['p-1', 'p-1']);
});

test('a revision whose text is being removed is not returned, although its text was read before', async () => {
  const { asked, heads, marked, present, revisions } = open();
  present.add('p-1');
  expect(await revisions.read('p-1')).toMatchObject({ number: expect.any(Number) });
  expect(await revisions.read('p-1')).not.toBe('purged');
  marked.add('p-1');
  expect(await revisions.read('p-1')).toBe('purged');
  expect(await revisions.read('p-1')).toBe('purged');
  expect([asked, heads]).toEqual([
    ['p-1', 'p-1'],
    ['p-1', 'p-1'],
  ]);
});

test('a missing revision is read from the API server each time', async () => {
  const { asked, present, revisions } = open();
  expect(await revisions.read('p-1')).toBeUndefined();
  present.add('p-1');
  expect(await revisions.read('p-1')).toBeDefined();
  expect(asked).toEqual(['p-1', 'p-1']);
});

test.each([
  { characters: 2_097_152, again: 0 },
  { characters: 2_097_153, again: 1 },
])(
  'the cache of revisions is bounded: with two of $characters characters the first is read $again more times',
  async ({ characters, again }) => {
    const { asked, present, revisions } = open(characters);
    for (const name of ['p-1', 'p-2']) {
      present.add(name);
      await revisions.read(name);
    }
    await revisions.read('p-1');
    expect(asked.filter((name) => name === 'p-1')).toHaveLength(1 + again);
  },
);
