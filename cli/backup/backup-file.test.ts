import { describe, expect, test } from 'vitest';
import { apiVersion, createdAnnotation, operatorFinalizer } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { type Backup, readBackup, writeBackup } from './backup-file.ts';
import { backupObject, isKept } from './backup-object.ts';

const route = { name: 'chat', uid: 'u', id: '01990000-0000-7000-8000-000000000001' };
const objects: readonly Resource[] = [
  {
    apiVersion,
    kind: 'RuntimeWorkload',
    metadata: { name: 'g-1' },
    spec: { digest: 'ab'.repeat(32), build: 'b', manifest: '{"a":"\\n]}\\n"}', replicas: 1, state: 'Active' },
  },
  {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name: 'chat' },
    spec: {
      formatVersion: 1,
      gateway: 'default',
      binding: route,
      alias: 'chat',
      generationId: '01990000-0000-7000-8000-000000000002',
      token: '',
      contentProfile: 'p',
      state: 'Enabled',
      guardrail: { mode: 'None' },
      upstream: { provider: 'echo', endpoint: 'http://127.0.0.1:9/v1', model: 'echo' },
      extraRequestKeys: [],
    },
  },
];
const backup: Backup = { namespace: 'team', takenAt: '2026-01-01T00:00:00.000Z', objects };
const text = writeBackup(backup).toString('utf8');
const read = (changed: string): Backup => readBackup('b.json', Buffer.from(changed));
const refusal = (changed: string): string => {
  try {
    read(changed);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'accepted';
};

describe('a backup file', () => {
  test('a backup file is read with the content that was written, and is a List that kubectl can read', () => {
    expect(read(text)).toEqual(backup);
    expect(JSON.parse(text)).toMatchObject({ apiVersion: 'v1', kind: 'List', items: objects });
    expect(read(writeBackup({ ...backup, objects: [] }).toString('utf8')).objects).toEqual([]);
  });

  test('a backup that is truncated at any position is refused', () => {
    for (let length = 0; length < text.length - 1; length += 7) {
      expect(refusal(text.slice(0, length))).toMatch(/is not a backup|was cut off/);
    }
  });

  test.each([
    ['a line is missing', text.replace(/^.*RuntimeWorkload.*\n/m, ''), /contains 1 of 2 objects/],
    [
      'an object has a kind that backups do not contain',
      text.replace('"RuntimeWorkload"', '"GatewayReport"'),
      /line 2: this is not an object of a backup/,
    ],
    ['an object is invalid', text.replace('"replicas":1', '"replicas":0'), /line 2: spec\.replicas /],
    [
      'an object has an unknown member',
      text.replace('"token":""', '"token":"","x":1'),
      /line 3: spec\.x is an unknown field/,
    ],
    ['it has another format', text.replace('"format":1', '"format":2'), /is not a backup of this version/],
    ['it is a list of another program', '{"apiVersion":"v1","kind":"List","items":[\n]}\n', /is not a backup/],
    ['it is empty', '', /is not a backup/],
  ])('a backup is refused if %s', (_what, changed, sentence) => {
    expect(refusal(changed)).toMatch(sentence);
  });
});

describe('an object in a backup', () => {
  const stored = (metadata: object = {}, more: object = {}): Stored<Resource> =>
    ({
      apiVersion,
      kind: 'ModelBinding',
      metadata: {
        name: 'chat',
        namespace: 'team',
        uid: 'u',
        resourceVersion: '7',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        ownerReferences: [{ apiVersion, kind: 'X', name: 'x', uid: 'x' }],
        ...metadata,
      },
      spec: { a: 1 },
      ...more,
    }) as Stored<Resource>;

  test('an object is saved without owner and version, with its creation time as an annotation', () => {
    expect(backupObject(stored())).toEqual({
      apiVersion,
      kind: 'ModelBinding',
      metadata: { name: 'chat', annotations: { [createdAnnotation]: '2026-01-01T00:00:00Z' } },
      spec: { a: 1 },
    });
    const again = backupObject(stored({ annotations: { [createdAnnotation]: '2020-01-01T00:00:00Z', x: 'y' } }));
    expect(again.metadata.annotations).toEqual({ [createdAnnotation]: '2020-01-01T00:00:00Z', x: 'y' });
  });

  test('the status of a binding is saved with its applications and without conditions', () => {
    const status = {
      conditions: [{ type: 'Ready' }],
      observedGeneration: 3,
      pinned: { generationId: 'g' },
      applications: [],
    };
    expect(backupObject(stored({}, { status })).status).toEqual({ pinned: { generationId: 'g' }, applications: [] });
    expect(backupObject(stored({}, { kind: 'GuardrailPolicy', status }))).not.toHaveProperty('status');
  });

  test('an object under deletion is saved as such only while the finalizer of the operator holds it', () => {
    const deletionTimestamp = '2026-01-02T00:00:00Z';
    const held = stored({ deletionTimestamp, finalizers: ['x/y', operatorFinalizer] });
    expect(isKept(held)).toBe(true);
    expect(backupObject(held).metadata).toMatchObject({ deletionTimestamp, finalizers: [operatorFinalizer] });
    expect(isKept(stored({ deletionTimestamp, finalizers: ['x/y'] }))).toBe(false);
    expect(isKept(stored())).toBe(true);
  });
});
