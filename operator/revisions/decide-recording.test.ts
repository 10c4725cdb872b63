import { describe, expect, test } from 'vitest';
import { decideRecording, holdMs, type RevisionHead } from './decide-recording.ts';
import type { RevisionContent } from './resources/revision.ts';

function content(
  change: Partial<RevisionContent> = {},
  policy: Partial<RevisionContent['policy']> = {},
): RevisionContent {
  return {
    policy: { name: 'guard', uid: 'one', generation: 1, ...policy },
    token: '',
    displayName: 'Guard',
    description: '',
    lifecycle: 'Draft',
    definitionDigest: 'd',
    ruleCount: 1,
    ruleKinds: ['regex'],
    tests: [],
    ...change,
  };
}

function head(
  number: number,
  change: Partial<RevisionContent> = {},
  policy: Partial<RevisionContent['policy']> = {},
): RevisionHead {
  const one = content(change, { generation: number, ...policy });
  return { ...one, policyId: 'id', number, objectName: `id-${number}` };
}

const now = { deleting: false, heldMs: 0 };

describe('recording a generation', () => {
  test('revision numbers start at 1 and continue after the highest number, in whatever order they are listed', () => {
    expect(decideRecording(content(), [], now)).toEqual({ kind: 'create', number: 1 });
    const heads = [head(2), head(3), head(1)];
    expect(decideRecording(content({}, { generation: 4 }), heads, now)).toEqual({ kind: 'create', number: 4 });
  });

  test('for one object, a recorded generation is not recorded again, nor one below the highest', () => {
    const heads = [head(1), head(2, {}, { generation: 5 })];
    for (const generation of [1, 3, 5]) {
      expect(decideRecording(content({}, { generation }), heads, now)).toMatchObject({
        kind: 'stands',
        head: { number: 2 },
      });
    }
    expect(decideRecording(content({}, { generation: 6 }), heads, now)).toEqual({ kind: 'create', number: 3 });
  });

  test('another object takes the next number, unless the highest revision has the same content', () => {
    const heads = [head(1), head(2, { displayName: 'Other' })];
    const another = { uid: 'two', generation: 1 };
    expect(decideRecording(content({ displayName: 'Other' }, another), heads, now)).toMatchObject({
      kind: 'stands',
      head: { number: 2 },
    });
    for (const change of [
      { displayName: 'Guard' },
      { displayName: 'Other', token: 't' },
      { displayName: 'Other', description: 'x' },
      { displayName: 'Other', lifecycle: 'Archived' as const },
      { displayName: 'Other', definitionDigest: 'e' },
      { displayName: 'Other', refusalText: 'Ask somebody.' },
      {
        displayName: 'Other',
        tests: [{ name: 't', stage: 'request' as const, messages: [], expect: 'Pass' as const }],
      },
    ]) {
      expect(decideRecording(content(change, another), heads, now)).toEqual({ kind: 'create', number: 3 });
    }
  });

  test('a deletion, which raises the generation without an edit, is not recorded', () => {
    const deleted = content({}, { generation: 2 });
    expect(decideRecording(deleted, [head(1)], { ...now, deleting: true })).toMatchObject({ kind: 'stands' });
    expect(decideRecording(deleted, [head(1)], now)).toEqual({ kind: 'create', number: 2 });
    const edited = content({ displayName: 'New' }, { generation: 3 });
    expect(decideRecording(edited, [head(1)], { ...now, deleting: true })).toEqual({ kind: 'create', number: 2 });
  });

  test('recording waits for an earlier write of the management API, which only that API can record', () => {
    const later = content({ token: 'op/2' }, { generation: 3 });
    expect(decideRecording(later, [head(1)], now)).toEqual({ kind: 'hold' });
    expect(decideRecording(later, [head(1)], { ...now, heldMs: holdMs - 1 })).toEqual({ kind: 'hold' });
    expect(decideRecording(later, [head(1)], { ...now, heldMs: holdMs })).toEqual({ kind: 'create', number: 2 });
    expect(decideRecording(later, [head(1), head(2, { token: 'op/2' })], now)).toEqual({ kind: 'create', number: 3 });
    // A revision of that generation with another token is not that write.
    expect(decideRecording(later, [head(1), head(2, { token: 'x' })], now)).toEqual({ kind: 'hold' });
  });

  test('recording does not wait for the write of this generation, nor for a token that names no write', () => {
    expect(decideRecording(content({ token: 'op/2' }, { generation: 2 }), [head(1)], now)).toEqual({
      kind: 'create',
      number: 2,
    });
    for (const token of ['free', 'a/b', '/1', 'op/0', 'op/01']) {
      expect(decideRecording(content({ token }, { generation: 3 }), [head(1)], now)).toEqual({
        kind: 'create',
        number: 2,
      });
    }
  });
});
