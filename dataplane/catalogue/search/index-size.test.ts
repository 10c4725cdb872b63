import { expect, test } from 'vitest';
import { readEnvironment } from '#kit/env/read-environment';
import type { IndexEntry } from '#search/ports';
import { openMemoryWorld } from '#search/testing/memory-world';
import { settings } from '../config.ts';
import { uuidOf } from '../testing/agent-resources.ts';
import { labelOverA2a } from './agent-source.ts';

const { PORTCULLIS_INDEX_MIB } = settings;
const defaultBytes = readEnvironment({ PORTCULLIS_INDEX_MIB }, {}).PORTCULLIS_INDEX_MIB * 1_048_576;
/** Number of agents that are loaded; each represents fifty agents. */
const loaded = 2_000;
const agents = 100_000;
const wordsOfCard = 60;

test.each([384, 1_024])(
  'the default index holds a workspace of 100,000 agents with %i dimensions',
  async (dimension) => {
    await using world = openMemoryWorld({ mostBytes: Number.POSITIVE_INFINITY, pageSize: loaded });
    const entries = Array.from({ length: loaded }, (_one, at) => entryOf(at, dimension));
    const reflects = await world.commit(
      'support',
      entries.map((entry) => ({ kind: 'put', entry })),
    );
    await world.index.candidates({
      ...{ partition: 'support', reflects, labels: 'every', window: 1 },
      legs: [{ kind: 'bm25', terms: ['word-0'] }],
    });
    expect((world.index.bytes() / loaded) * agents).toBeLessThanOrEqual(defaultBytes);
  },
);

/** An agent whose card shares words with many others. */
function entryOf(at: number, dimension: number): IndexEntry {
  const id = uuidOf(`agent-${at}`);
  return {
    id: `${id}/${agents}`,
    group: id,
    labels: [id, labelOverA2a(id)],
    attributes: { protocol: 'a2a', implementationType: 'low-code' },
    terms: Array.from({ length: wordsOfCard }, (_word, place) => `word-${(at * (place + 1)) % 997}`),
    vector: new Float32Array(dimension).fill(1 / Math.sqrt(dimension)),
  };
}
