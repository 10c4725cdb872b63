import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import type { AuditLog } from '#audit/ports';
import type { AuditContent } from '#contracts/audit';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import type { ListOptions } from '#kube/client/client';
import { kinds } from '#resources/kinds';
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
  result: { policyId, revision: 1 },
  failure: undefined,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

type Seen = {
  readonly revisions: readonly KnownRevision[];
  readonly command?: CommandRecord;
  /** Policies of the API server, and those that the cache has, as id or id/UID. */
  readonly onServer?: readonly string[];
  readonly cached?: readonly string[];
  /** Names of ModelBindings in the cache, each with the id of its model. */
  readonly bindings?: Readonly<Record<string, string>>;
  readonly applications?: readonly unknown[];
  /** Times of purges by the API that have no entry yet. */
  readonly begun?: readonly string[];
  /** Called with the reason that prevents changes from being recorded. */
  readonly faults?: string[];
  /** The generation of the policies that the operator has settled; they have generation 1. */
  readonly observedGeneration?: number;
};

function policyOf(text: string) {
  const [id = '', uid = 'uid-1'] = text.split('/');
  const creationTimestamp = '2026-01-02T00:00:00Z';
  return { id, metadata: { uid, generation: 1, creationTimestamp, labels: { 'portcullis.dev/id': id } } };
}

/** Examines the resources once, in a process that has only the content of the database. */
async function observe(audit: AuditLog, seen: Seen) {
  const {
    revisions,
    cached = [policyId],
    onServer = cached,
    bindings = {},
    applications = [],
    observedGeneration = 1,
  } = seen;
  let asked = 0;
  const observing = startObserving({
    client: {
      list: async (kind: unknown, { labelSelector = '' }: ListOptions = {}) => ({
        resourceVersion: '1',
        items: (kind === kinds.guardrailPolicy
          ? onServer.map(policyOf).filter(({ id }) => labelSelector.endsWith(`=${id}`))
          : onServer.map(() => ({ metadata: { uid: `uid-of-${Object.keys(bindings)[0] ?? 'one'}` } }))) as never,
      }),
    } as Parameters<typeof startObserving>[0]['client'],
    caches: {
      everyRevision() {
        asked += 1;
        return revisions;
      },
      revisions: (id: string) => revisions.filter((one) => one.policyId === id),
      policies: {
        list: () =>
          cached.map(policyOf).map(({ id, metadata }) => {
            const number = revisions.findLast((one) => one.policyId === id)?.number;
            return { metadata, status: { observedGeneration, latestRevision: number && { number } } };
          }),
      },
      bindings: {
        list: () =>
          Object.entries(bindings).map(([name, id]) => ({
            metadata: { name, uid: `uid-of-${name}`, labels: { 'portcullis.dev/id': id } },
            status: { applications },
          })),
      },
      synced: Promise.resolve(),
    } as unknown as Parameters<typeof startObserving>[0]['caches'],
    audit,
    store: { get: async () => seen.command },
    begun: { isOpen: async (_revision, time) => seen.begun?.includes(time) === true },
    sourceDays: 1,
    clock: systemClock,
    logger: silentLogger,
    faults: {
      lookFailed: () => seen.faults?.push('look'),
      changeNotRecorded: () => seen.faults?.push('change'),
    },
  });
  // One observation reads twice, and the next observation begins after its end.
  await until('the first look has ended', async () => asked > 2);
  await observing[Symbol.asyncDispose]();
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes that are observed in the resources'), () => {
  const purgeTime = '2026-01-31T09:00:00.000Z';
  const purged = { ...revision(1), purgeTime, purgedBy: 'kubectl-patch (field manager)' };

  const observed = (...all: readonly Seen[]) => observedAfter(async () => undefined, ...all);

  async function observedAfter(prepare: (audit: AuditLog) => Promise<unknown>, ...all: readonly Seen[]) {
    await using database = await openTestDatabase();
    const audit = await openPostgresAudit(database.database, 'management');
    await prepare(audit);
    for (const seen of all) await observe(audit, seen);
    const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
    return entries.map(({ content }) => content);
  }

  test('a revision that a command recorded gets no observed entry, even after the command was deleted', async () => {
    expect(await observed({ revisions: [revision(1)], command }, { revisions: [revision(1)] })).toEqual([]);
  });

  test('changes are recorded while sources cannot be forgotten', async () => {
    await using database = await openTestDatabase();
    const audit = await openPostgresAudit(database.database, 'management');
    await database.database.sql`alter table audit.sources drop column added_at`;
    await observe(audit, { revisions: [revision(1)] });
    const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
    expect(entries.map(({ content }) => content.action)).toEqual(['policy.record']);
  });

  test('a revision with the token of an earlier command gets an observed entry', async () => {
    const copied = await observed({ revisions: [revision(1), revision(2)], command });
    expect(copied.map(({ action, before, after }) => [action, before?.revision, after?.revision])).toEqual([
      ['policy.record', 1, 2],
    ]);
  });

  test('a revision that a client copies with the object, generation and token of a command gets an observed entry', async () => {
    const copy = {
      ...revision(2, { definitionDigest: 'b'.repeat(64) }),
      policy: revision(1).policy,
      token: revision(1).token,
    };
    const copied = await observed({ revisions: [revision(1), copy], command });
    expect(copied.map(({ action, after }) => [action, after?.revision])).toEqual([['policy.record', 2]]);
  });

  test('a revision with the token of an unfinished command gets no observed entry until the revision of the command is known', async () => {
    const open = { ...command, state: 'running', result: undefined } as const;
    expect(await observed({ revisions: [revision(1)], command: open })).toEqual([]);
    const ended = { ...command, result: { policyId, revision: 2 } };
    const entries = await observed(
      { revisions: [revision(1)], command: open },
      { revisions: [revision(1)], command: ended },
    );
    expect(entries.map(({ action }) => action)).toEqual(['policy.record']);
  });

  test('the deletion of a policy is recorded if the API server does not have it, whatever the cache contains', async () => {
    const seen = { revisions: [revision(1)], command, cached: [] };
    expect(await observed({ ...seen, onServer: [policyId] })).toEqual([]);
    expect((await observed(seen)).map(({ action }) => action)).toEqual(['policy.delete']);
  });

  const actionsOf = (entries: readonly AuditContent[]) =>
    entries.map(({ action, before, after }) => [action, before?.revision, after?.revision]);
  const made = { revisions: [revision(1)], command };
  const [gone, back] = [
    { ...made, cached: [] },
    { ...made, cached: [`${policyId}/uid-2`] },
  ];
  const deleted = ['policy.delete', 1, undefined];
  const returned = ['policy.record', undefined, 1];

  test('a deleted policy that is created again with the same content gets an audit entry, and so does each of its deletions', async () => {
    expect(actionsOf(await observed(made, gone, gone, back, back, gone, gone))).toEqual([deleted, returned, deleted]);
    expect(actionsOf(await observed(made, back, gone))).toEqual([deleted, returned, deleted]);
  });

  test('a policy that is created again is not recorded before the operator has reconciled it, and only once together with its revision', async () => {
    const open = { ...back, observedGeneration: 0 };
    expect(actionsOf(await observed(made, gone, open))).toEqual([deleted]);
    const uid = { name: 'observed', uid: 'uid-2', generation: 1 };
    const recorded = { ...back, revisions: [revision(1), revision(2, { token: '', policy: uid })] };
    expect(actionsOf(await observed(made, gone, recorded))).toEqual([deleted, ['policy.record', 1, 2]]);
  });

  test('when a policy is deleted and applied with other content between two observations, the deletion is recorded before the revision', async () => {
    const uid = { name: 'observed', uid: 'uid-2', generation: 1 };
    const next = revision(2, { token: '', policy: uid });
    const recorded = { ...back, revisions: [revision(1), next] };
    const replaced = [deleted, ['policy.record', 1, 2]];
    expect(actionsOf(await observed(made, recorded))).toEqual(replaced);
    expect(actionsOf(await observed(made, recorded, { ...recorded, cached: [] }))).toEqual([
      ...replaced,
      ['policy.delete', 2, undefined],
    ]);
    const bothEnded = [...replaced, ['policy.delete', 2, undefined]];
    expect(actionsOf(await observed(made, { ...recorded, cached: [] }))).toEqual(bothEnded);
    const unseen = { revisions: [revision(1, { token: '' })], cached: [] };
    expect(actionsOf(await observed(unseen))).toEqual([['policy.record', undefined, 1], deleted]);
  });

  test('a deletion that an earlier release recorded is not recorded again, before or after the policy is created again', async () => {
    const recorded = (audit: AuditLog) => audit.addSources([`deletion/${policyId}/uid-1`]);
    expect(actionsOf(await observedAfter(recorded, gone, back, gone))).toEqual([returned, deleted]);
  });

  test('a change or removal of the id label of a binding is not recorded, and its deletion is', async () => {
    const seen = { revisions: [], onServer: [] };
    const labels = [modelId, '01900000-0000-7000-8000-0000000000cc', ''];
    const changed = labels.map((id) => ({ ...seen, bindings: { one: id } }));
    expect(await observed(...changed)).toEqual([]);
    expect((await observed(...changed, seen, seen)).map(({ action, target }) => [action, target?.id])).toEqual([
      ['binding.delete', modelId],
    ]);
  });

  test('the deletion of a binding is recorded once, even by the next replica, if the API server has no such model', async () => {
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
    // Another object of the same model does not hide the deletion of the first object.
    const deletions = await observed(one, { ...again, onServer: [modelId] }, seen);
    expect(deletions.map(({ action, target }) => [action, target?.id])).toEqual([
      ['binding.delete', modelId],
      ['binding.delete', modelId],
    ]);
  });

  test('a removed text is recorded once if no purge by the API was recorded, with the field manager or an unknown author', async () => {
    expect(await observed({ revisions: [purged], command }, { revisions: [purged] })).toMatchObject([
      {
        action: 'revision.purge',
        outcome: 'observed',
        time: purgeTime,
        author: { kind: 'claimed', name: 'kubectl-patch (field manager)' },
        target: { type: 'revision', id: purged.objectName },
      },
    ]);
    const byUnknown = { ...purged, purgedBy: undefined };
    expect((await observed({ revisions: [byUnknown], command })).map(({ author }) => author.kind)).toEqual(['unknown']);
  });

  const purgesOf = (entries: readonly AuditContent[]) =>
    entries.filter(({ action }) => action === 'revision.purge').map(({ outcome, time }) => [outcome, time]);
  const ofApi = (time: string): AuditContent => {
    const by = { author: { kind: 'unknown' }, client: 'none', traceId: null } as const;
    const state = { policyId, revision: 1, digest: 'a'.repeat(64) };
    const target = { type: 'revision', id: purged.objectName } as const;
    return changeEntry({ action: 'revision.purge', target, before: state, after: state }, by, new Date(time));
  };

  test('a purge by the API gets no observed entry; a purge by another client after a failed one by the API does', async () => {
    const seen = { revisions: [purged], command };
    const accepted = ['accepted', purgeTime];
    expect(purgesOf(await observedAfter((audit) => audit.write([ofApi(purgeTime)]), seen))).toEqual([accepted]);
    for (const other of ['2026-01-31T08:59:59.999Z', '2026-01-31T09:00:00.001Z']) {
      expect(purgesOf(await observedAfter((audit) => audit.write([ofApi(other)]), seen))).toEqual([
        ['accepted', other],
        ['observed', purgeTime],
      ]);
    }
  });

  test('a purge by the API without an audit entry gets an observed one only if its own is never written', async () => {
    const open = { revisions: [purged], command, begun: [purgeTime] };
    expect(purgesOf(await observed(open))).toEqual([]);
    expect(purgesOf(await observed({ ...open, begun: ['2026-01-31T08:59:59.999Z'] }))).toHaveLength(1);
    expect(purgesOf(await observed(open, { ...open, begun: [] }))).toEqual([['observed', purgeTime]]);
  });

  test('a purge that is older than the retained audit entries gets no entry, whatever time its client states', async () => {
    const kept = '2026-03-01T00:00:00.000Z';
    const afterRetention = (change: Partial<KnownRevision>) =>
      observedAfter(
        async (audit) => {
          await audit.write([ofApi('2026-01-01T00:00:00.000Z'), ofApi(kept)]);
          await audit.retain(new Date(kept), new Date(kept));
        },
        { revisions: [{ ...purged, ...change }], command },
      );
    const accepted = ['accepted', kept];
    expect(purgesOf(await afterRetention({ purgeSeenAt: '2026-02-28T23:59:59Z' }))).toEqual([accepted]);
    for (const purgeSeenAt of [kept, undefined]) {
      expect(purgesOf(await afterRetention({ purgeSeenAt }))).toEqual([accepted, ['observed', purgeTime]]);
    }
    const neverRetained = (audit: AuditLog) => audit.write([ofApi(kept)]);
    const old = { ...purged, purgeSeenAt: purgeTime };
    expect(purgesOf(await observedAfter(neverRetained, { revisions: [old], command }))).toHaveLength(2);
  });

  test.each(['2026-01-01T00:00:00+99:99', '0000-01-01T00:00:00+14:00'])(
    'a purge at %s is recorded with the present time and does not delay other records',
    async (time) => {
      const entries = await observed({ revisions: [{ ...purged, purgeTime: time }, revision(2)], command });
      expect(entries.map(({ action }) => action)).toEqual(['revision.purge', 'policy.record']);
      expect(Date.parse(entries[0]?.time ?? '')).toBeGreaterThan(Date.parse(purgeTime));
    },
  );

  test('sources of applications are removed after their retention once the binding no longer has them, and no application is recorded twice', async () => {
    await using database = await openTestDatabase();
    const { sql } = database.database;
    const audit = await openPostgresAudit(database.database, 'management');
    const application = (at: number) => ({
      operationId: `token-${at}`,
      contentProfile: 'text.v1',
      outcome: 'Applied',
      generationId: `g${at}`,
      time: `2026-01-01T00:00:0${at}.000Z`,
    });
    const look = (...applications: readonly unknown[]) =>
      observe(audit, { revisions: [], bindings: { one: modelId }, applications });
    const sources = async () =>
      (
        await sql<{ source: string }[]>`
          select source from audit.sources where starts_with(source, 'application/') order by source`
      ).map(({ source }) => source.split('/')[2]);
    await look(application(2), application(1));
    expect(await sources()).toEqual(['token-1', 'token-2']);
    await look(application(3), application(2));
    expect(await sources()).toEqual(['token-1', 'token-2', 'token-3']);
    await sql`update audit.sources set added_at = clock_timestamp() - interval '25 hours'`;
    await look(application(3), application(2));
    expect(await sources()).toEqual(['token-2', 'token-3']);
    const { entries } = await audit.read({ filter: { action: 'binding.unbind' }, order: 'oldest', limit: 10 });
    expect(entries).toHaveLength(3);
  });

  test('a malformed binding does not delay audit entries of other bindings', async () => {
    const bindings = { broken: modelId };
    const entries = await observed({ revisions: [revision(2)], command, bindings, applications: [null] });
    expect(entries.map(({ action }) => action)).toEqual(['policy.record']);
  });

  test.each(['x\0', '\ud800'])(
    'an application with a token that PostgreSQL refuses (%j) is recorded once and does not delay other records',
    async (token) => {
      const faults: string[] = [];
      const applied = { operationId: token, contentProfile: 'text.v1', outcome: 'Applied', generationId: 'g1' };
      const applications = [{ ...applied, policyId: `p${token}`, policyRevision: 1, time: '2026-01-01T00:00:01.000Z' }];
      const seen = { revisions: [revision(1)], bindings: { one: modelId }, applications, faults };
      const entries = await observed(seen, seen);
      expect(entries.map(({ action }) => action)).toEqual(['policy.record', 'binding.apply']);
      expect([entries[1]?.after?.policyId, faults]).toEqual([`p${token.slice(0, -1)}\u{fffd}`, []]);
    },
  );

  test('a change that the database cannot store is counted and does not delay other records', async () => {
    const faults: string[] = [];
    // This text is longer than a key of an index can be, in characters that no compression shortens.
    const random = Array.from({ length: 1_024 }, (_, at) =>
      String.fromCodePoint(0x4e00 + ((at * 7_919 + at ** 3) % 20_000)),
    );
    const long = revision(2, { token: '', policyId: random.join(''), objectName: 'long-2' });
    const seen = { revisions: [long, revision(3, { token: '' })], faults };
    const entries = await observed({ ...seen, cached: [policyId, long.policyId] });
    expect(entries.map(({ after }) => after?.revision)).toEqual([3]);
    expect(faults).toEqual(['change']);
  });

  test('an application with a future time is recorded with the present time, and a malformed change does not delay other records', async () => {
    const invalid = revision(2, { token: '', definitionDigest: 'none' });
    const future = revision(3, { token: '', recordedAt: '9999-01-01T00:00:00.000Z' });
    const [entry, ...more] = await observed({ revisions: [invalid, future] });
    expect([entry?.after?.revision, entry?.before, more]).toEqual([3, { policyId, revision: 2, digest: null }, []]);
    expect(Date.parse(entry?.time ?? '')).toBeLessThanOrEqual(Date.now());
  });
});
