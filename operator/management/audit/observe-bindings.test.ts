import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { withoutManagedFields } from '#kube/client/decode-object';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import { createObservedStates } from './adapters/postgres/observed-states.ts';
import { startObservingBindings } from './observe-bindings.ts';
import type { ObservedBinding, ObservedStates } from './ports.ts';

const modelId = '01900000-0000-7000-8000-0000000000bb';

/** A ModelBinding as a server returns it, last changed by kubectl edit. */
function binding(generation: number, spec: Partial<ModelBindingSpec> = {}, id = modelId): Stored<ModelBinding> {
  const managedFields = [{ manager: 'kubectl-edit', time: '2026-01-31T09:00:00Z', fieldsV1: { 'f:spec': {} } }];
  const whole = {
    model: { alias: 'chat', provider: 'echo', upstreamModel: 'echo-1', state: 'Enabled' },
    ...{ gateway: 'default', guardrail: { mode: 'None' }, contentProfile: 'text.v1', replicas: 1, ...spec },
  };
  const metadata = { name: 'chat', uid: 'uid-1', generation, labels: { [idLabel]: id }, managedFields };
  return withoutManagedFields({ metadata, spec: whole } as unknown as Stored<ModelBinding>, false);
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('settings of models in the audit log'), () => {
  async function openLog() {
    const database = await openTestDatabase();
    await migrate(database.database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
    const audit = await openPostgresAudit(database.database, 'management');
    return {
      states: createObservedStates<ObservedBinding>(database.database, audit, 'observed_bindings'),
      async entries() {
        const { entries } = await audit.read({ filter: { targetId: modelId }, order: 'oldest', limit: 100 });
        return entries.map(({ content }) => content);
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  /** Runs one replica from its start until it has observed these generations. */
  async function observe(states: ObservedStates<ObservedBinding>, ...bindings: readonly Stored<ModelBinding>[]) {
    let looks = 0;
    await using _observing = startObservingBindings({
      client: { list: async () => ({ items: bindings.slice(-1) as never, resourceVersion: '1' }) },
      caches: {
        bindings: {
          list() {
            looks += 1;
            return bindings.slice(-1);
          },
        } as never,
        onBindingChange(listener) {
          for (const one of bindings) listener(one);
        },
        synced: Promise.resolve(),
      },
      states,
      clock: systemClock,
      logger: silentLogger,
      faults: { lookFailed: () => undefined, changeNotRecorded: () => undefined },
    });
    await until('the replica has looked twice', async () => looks >= 4);
  }

  test("each change of a binding's settings gets one audit entry across all replicas, with the changed members and the author", async () => {
    await using log = await openLog();
    const generations = [
      binding(1),
      binding(2, { judge: ['files'], streaming: 'Allowed' }),
      binding(3, {
        model: { alias: 'chat', provider: 'other', upstreamModel: 'echo-1', state: 'Disabled' },
        ...{ judge: ['files'], streaming: 'Allowed' },
      }),
    ];
    await Promise.all([observe(log.states, ...generations), observe(log.states, ...generations)]);
    const entries = await log.entries();
    expect(entries).toMatchObject([
      { action: 'binding.update', outcome: 'observed', settings: { changed: ['judge', 'streaming'] } },
      { settings: { changed: ['model.provider', 'model.state'] } },
    ]);
    expect(entries[1]?.settings?.before).toBe(entries[0]?.settings?.after);
    const author = { kind: 'claimed', name: 'kubectl-edit (field manager)' };
    expect(entries.map((entry) => entry.author)).toEqual([author, author]);
    expect(JSON.stringify(entries)).not.toContain('other');
  });

  test('an application, a first observation and an unchanged state of a binding get no audit entry for settings', async () => {
    await using log = await openLog();
    const guardrail = { mode: 'Policy', policyRef: { name: 'guard', revision: 1 } } as const;
    await observe(log.states, binding(1), binding(2, { guardrail, apply: 'again', contentProfile: 'text.v2' }));
    await observe(log.states, binding(2, { guardrail, apply: 'again', contentProfile: 'text.v2' }));
    expect(await log.entries()).toEqual([]);
  });

  test('changes of a binding while no replica runs are one audit entry without an author', async () => {
    await using log = await openLog();
    await observe(log.states, binding(1));
    await observe(log.states, binding(4, { replicas: 3 }));
    expect(await log.entries()).toMatchObject([{ author: { kind: 'unknown' }, settings: { changed: ['replicas'] } }]);
  });

  test('a change of a binding is recorded for the model that it had at the time, and waits while its id label is missing', async () => {
    await using log = await openLog();
    await observe(log.states, binding(1), binding(2, { replicas: 2 }, ''));
    expect(await log.entries()).toEqual([]);
    await observe(log.states, binding(2, { replicas: 2 }));
    expect(await log.entries()).toHaveLength(1);
    await observe(log.states, binding(3, { replicas: 3 }, '01900000-0000-7000-8000-0000000000cc'));
    expect(await log.entries()).toHaveLength(2);
  });
});
