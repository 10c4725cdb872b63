import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import type { AuditLog } from '#audit/ports';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import type { ListOptions } from '#kube/client/client';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import type { KnownRevision } from '../caches/known-revision.ts';
import type { CommandRecord } from '../operations/command-record.ts';
import { changeToken } from '../policies/make-policy.ts';
import { startObserving } from './record-observed.ts';

const operationId = '01900000-0000-7000-8000-000000000001';
const policyId = '01900000-0000-7000-8000-0000000000aa';
const modelId = '01900000-0000-7000-8000-0000000000bb';

function revision(number: number, change: Partial<KnownRevision> = {}): KnownRevision {
  return {
    policyId,
    number,
    policy: { name: 'observed', uid: 'uid-1', generation: number },
    token: changeToken(operationId, number),
    displayName: 'observed',
    description: '',
    lifecycle: 'Draft',
    definitionDigest: 'a'.repeat(64),
    ruleCount: 0,
    ruleKinds: [],
    objectName: `${change.policyId ?? policyId}-${number}`,
    bytes: 2,
    recordedAt: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}

const command: CommandRecord = {
  operationId,
  kind: 'policy.create',
  state: 'succeeded',
  target: { type: 'policy', id: policyId },
  traceId: '0'.repeat(32),
  origin: { author: { kind: 'unknown' }, groups: [], client: 'none', before: null, after: null },
  accepted: true,
  overridesFreeze: false,
  written: { uid: 'uid-1', generation: 1 },
  result: undefined,
  failure: undefined,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

type Seen = {
  readonly revisions: readonly KnownRevision[];
  readonly command?: CommandRecord;
  /** Ids of policies of the API server, and of those that the cache has. */
  readonly onServer?: readonly string[];
  readonly cached?: readonly string[];
  /** Names of ModelBindings in the cache, each with the id of its model. */
  readonly bindings?: Readonly<Record<string, string>>;
};

/** Examines the resources once, in a process that has only the content of the database. */
async function observe(audit: AuditLog, seen: Seen) {
  const { revisions, cached = [policyId], onServer = cached, bindings = {} } = seen;
  let asked = 0;
  const observing = startObserving({
    client: {
      list: async (_kind: unknown, { labelSelector = '' }: ListOptions = {}) => ({
        resourceVersion: '1',
        items: onServer
          .filter((id) => labelSelector === '' || labelSelector.endsWith(`=${id}`))
          .map(() => ({ metadata: { uid: `uid-of-${Object.keys(bindings)[0] ?? 'one'}` } }) as never),
      }),
    } as Parameters<typeof startObserving>[0]['client'],
    caches: {
      everyRevision() {
        asked += 1;
        return revisions;
      },
      policies: { list: () => cached.map((id) => ({ metadata: { labels: { 'portcullis.dev/id': id } } })) },
      bindings: {
        list: () =>
          Object.entries(bindings).map(([name, id]) => ({
            metadata: { name, uid: `uid-of-${name}`, labels: { 'portcullis.dev/id': id } },
          })),
      },
      synced: Promise.resolve(),
    } as unknown as Parameters<typeof startObserving>[0]['caches'],
    audit,
    store: { get: async () => seen.command },
    clock: systemClock,
    logger: silentLogger,
  });
  // One look asks twice, and the next one begins after it has ended.
  await until('the first look has ended', async () => asked > 2);
  await observing[Symbol.asyncDispose]();
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes that are observed in the resources'), () => {
  async function observed(...all: readonly Seen[]) {
    await using database = await openTestDatabase();
    const audit = await openPostgresAudit(database.database, 'management');
    for (const seen of all) await observe(audit, seen);
    const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
    return entries.map(({ content }) => content);
  }

  test('a revision of a command has no entry, also after the command was deleted', async () => {
    expect(await observed({ revisions: [revision(1)], command }, { revisions: [revision(1)] })).toEqual([]);
  });

  test('a revision with the token of an earlier command has an entry', async () => {
    const copied = await observed({ revisions: [revision(1), revision(2)], command });
    expect(copied.map(({ action, after }) => [action, after?.revision])).toEqual([['policy.record', 2]]);
  });

  test('a deletion has an entry if the server has no such policy, whatever the cache has', async () => {
    const seen = { revisions: [revision(1)], command, cached: [] };
    expect(await observed({ ...seen, onServer: [policyId] })).toEqual([]);
    expect((await observed(seen)).map(({ action }) => action)).toEqual(['policy.delete']);
  });

  test('a binding whose id label is changed or removed has no entry, and one when it is deleted', async () => {
    const seen = { revisions: [], onServer: [] };
    const labels = [modelId, '01900000-0000-7000-8000-0000000000cc', ''];
    const changed = labels.map((id) => ({ ...seen, bindings: { one: id } }));
    expect(await observed(...changed)).toEqual([]);
    expect((await observed(...changed, seen, seen)).map(({ action, target }) => [action, target?.id])).toEqual([
      ['binding.delete', modelId],
    ]);
  });

  test('the deletion of a binding has one entry, by the next replica too, if the server has no such model', async () => {
    const seen = { revisions: [], onServer: [] };
    const one = { ...seen, bindings: { one: modelId } };
    const entries = await observed(one, { ...seen, onServer: [modelId] }, seen, seen);
    expect(entries).toMatchObject([
      {
        action: 'binding.delete',
        outcome: 'observed',
        author: { kind: 'unknown' },
        target: { type: 'model', id: modelId },
      },
    ]);
    const again = { ...seen, bindings: { again: modelId } };
    // Another object of the same model does not hide the deletion of the first one.
    const deletions = await observed(one, { ...again, onServer: [modelId] }, seen);
    expect(deletions.map(({ action, target }) => [action, target?.id])).toEqual([
      ['binding.delete', modelId],
      ['binding.delete', modelId],
    ]);
  });

  test('a removed text has one entry if no purge by the API has one, with the field manager or unknown', async () => {
    const purgeTime = '2026-01-31T09:00:00.000Z';
    const purged = { ...revision(1), purgeTime };
    const byKubectl = { ...purged, purgedBy: 'kubectl-patch (field manager)' };
    expect(await observed({ revisions: [byKubectl], command }, { revisions: [byKubectl] })).toMatchObject([
      {
        action: 'revision.purge',
        outcome: 'observed',
        time: purgeTime,
        author: { kind: 'claimed', name: 'kubectl-patch (field manager)' },
        target: { type: 'revision', id: purged.objectName },
      },
    ]);
    expect((await observed({ revisions: [purged], command })).map(({ author }) => author.kind)).toEqual(['unknown']);
  });

  test('a time in the future is recorded as now, and a change without a valid form does not hold up others', async () => {
    const invalid = revision(2, { token: '', definitionDigest: 'none' });
    const future = revision(3, { token: '', recordedAt: '9999-01-01T00:00:00.000Z' });
    const [entry, ...more] = await observed({ revisions: [invalid, future] });
    expect([entry?.after?.revision, more]).toEqual([3, []]);
    expect(Date.parse(entry?.time ?? '')).toBeLessThanOrEqual(Date.now());
  });
});
