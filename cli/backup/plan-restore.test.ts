import { describe, expect, test } from 'vitest';
import { idLabel } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { planRestore } from './plan-restore.ts';

const object = (kind: string, name: string, spec: unknown = {}, id = 'i'): Resource => ({
  apiVersion: 'portcullis.dev/v1alpha1',
  kind,
  metadata: { name, labels: { [idLabel]: id } },
  spec,
});
const there = (...objects: readonly Resource[]) => objects as readonly Stored<Resource>[];
const wanted = [object('PolicyRevision', 'a'), object('ModelBinding', 'a', { x: 1 })];
const [revision, binding] = wanted as [Resource, Resource];

describe('a restore', () => {
  test('a restore creates everything in an empty namespace, and nothing if everything exists', () => {
    expect(planRestore(wanted, [])).toEqual({ create: wanted, present: [], problems: [] });
    expect(planRestore(wanted, there(...wanted))).toEqual({ create: [], present: wanted, problems: [] });
  });

  test('an interrupted restore creates the rest; the order of members does not matter', () => {
    expect(planRestore(wanted, there(revision))).toEqual({ create: [binding], present: [revision], problems: [] });
    const written = object('ModelBinding', 'a', { y: 2, x: 1 });
    const stored = object('ModelBinding', 'a', { x: 1, y: 2 });
    expect(planRestore([written], there(stored)).problems).toEqual([]);
  });

  test.each([
    [
      'an object that is not in the backup',
      object('ModelBinding', 'b'),
      'ModelBinding b exists and is not in the backup',
    ],
    [
      'an object with another spec',
      object('ModelBinding', 'a', { x: 2 }),
      'ModelBinding a exists and differs from the backup',
    ],
    [
      'an object with another id',
      object('ModelBinding', 'a', { x: 1 }, 'j'),
      'ModelBinding a exists and differs from the backup',
    ],
  ])('a restore is refused because of %s', (_what, found, problem) => {
    expect(planRestore(wanted, there(found)).problems).toEqual([expect.stringContaining(problem)]);
  });
});
