import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { applyDesired } from '#kube/apply/apply';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap } from '#kube/client/builtin-types';
import { createClient, type KubeClient } from '#kube/client/client';
import { isKubeError, KubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import { samplePolicy } from '#kube/testing/sample-resources';
import { compareVersions } from '#kube/watch/compare-versions';
import { type Reflector, type ReflectorOptions, startReflector } from '#kube/watch/reflector';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';
import { useApiServer } from './shared-api-server.ts';

const policies = kinds.guardrailPolicy;
type Options = Partial<ReflectorOptions<GuardrailPolicy>>;

function follow(
  client: ReflectorOptions<GuardrailPolicy>['client'],
  options: Options = {},
): Reflector<GuardrailPolicy> {
  const reflector = startReflector<GuardrailPolicy>({
    client,
    kind: policies,
    logger: { info() {}, warn() {} },
    onChange() {},
    ...options,
  });
  onTestFinished(() => reflector[Symbol.asyncDispose]());
  return reflector;
}

function versionsOf(
  objects: readonly { readonly metadata: { readonly name: string; readonly resourceVersion: string } }[],
) {
  return Object.fromEntries(objects.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

/** A client whose watches fail while the client is blocked. */
function holdable(client: KubeClient) {
  const gate = { isHeld: false, current: new AbortController() };
  const watch = async function* (...[kind, options]: Parameters<KubeClient['watch']>) {
    if (gate.isHeld) throw new KubeError('network', 'held');
    const { signal } = options;
    const either = AbortSignal.any([gate.current.signal, ...(signal === undefined ? [] : [signal])]);
    yield* client.watch(kind, { ...options, signal: either });
  };
  return {
    client: { ...client, watch: watch as KubeClient['watch'] },
    hold() {
      gate.isHeld = true;
      gate.current.abort();
    },
    release() {
      gate.current = new AbortController();
      gate.isHeld = false;
    },
  };
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('a watch of the API server'), () => {
  const server = useApiServer(() => openApiServer({ apiServerFlags: ['--etcd-compaction-interval=2s'] }));

  test('bookmarks advance a watch while no object of its kind changes', async () => {
    const client = await server.client();
    await client.create(policies, samplePolicy('before'));
    const { resourceVersion } = await listAll(client, policies);
    const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } };
    const other = await client.create<ConfigMap>(builtinKinds.configMap, map);
    // A consistent list makes the server read its newest version; without it the server reads it only every few
    // minutes.
    const asking = setInterval(() => void client.list(policies).catch(() => {}), 500);
    onTestFinished(() => clearInterval(asking));
    const versions: string[] = [];
    for await (const event of client.watch(policies, { resourceVersion, timeoutSeconds: 6 })) {
      expect(event.type).toBe('BOOKMARK');
      versions.push(event.object.metadata.resourceVersion);
    }
    expect(compareVersions(versions.at(-1) ?? '0', other.metadata.resourceVersion)).toBeGreaterThanOrEqual(0);
  });

  test('a watch from a future resourceVersion returns no events, and a list from it fails', async () => {
    const client = await server.client();
    const resourceVersion = '9000000000000';
    const list = client.list(policies, { resourceVersion, limit: 1 });
    await expect(list).rejects.toMatchObject({ code: 'too_large_resource_version' });
    const events: string[] = [];
    const watching = (async () => {
      for await (const event of client.watch(policies, { resourceVersion, timeoutSeconds: 3 })) events.push(event.type);
    })();
    await client.create(policies, samplePolicy('unseen'));
    await watching;
    expect(events).toEqual([]);
  });

  test('a reflector lists again after the server was restored to an older state', async () => {
    const client = await server.client();
    const told: string[] = [];
    const watches: string[] = [];
    let lists = 0;
    // The responses of a server that was later restored from an older backup.
    const list = async (...[kind, options]: Parameters<KubeClient['list']>) => {
      const page = await client.list(kind, options);
      if (options?.limit !== 1) lists += 1;
      return lists === 1 ? { ...page, resourceVersion: '9000000000000' } : page;
    };
    const watch = async function* (...[kind, options]: Parameters<KubeClient['watch']>) {
      watches.push(options.resourceVersion);
      if (watches.length === 1) throw new KubeError('network', 'the connection to the server is closed');
      yield* client.watch(kind, options);
    };
    const fromTheFuture = { list: list as KubeClient['list'], watch: watch as KubeClient['watch'] };
    const reflector = follow(fromTheFuture, { onChange: (name) => void told.push(name) });
    await reflector.synced;
    await client.create(policies, samplePolicy('restored'));
    await until('the watch reports the change', () => reflector.store.get('restored') !== undefined);
    expect(told).toEqual(['restored']);
    expect(lists).toBe(2);
    expect(watches[0]).toBe('9000000000000');
    expect(watches).toHaveLength(2);
  });

  test('a watch whose version was compacted leads to a list, and removals are delivered', async () => {
    const client = await server.client();
    const held = holdable(client);
    const gone = await client.create<GuardrailPolicy>(policies, samplePolicy('gone'));
    const kept = await client.create<GuardrailPolicy>(policies, samplePolicy('kept'));
    const told: string[] = [];
    const reflector = follow(held.client, {
      onChange: (name, current) => void told.push(`${name} ${current?.spec.displayName ?? 'removed'}`),
    });
    await reflector.synced;
    const position = reflector.throughVersion();
    held.hold();
    await client.delete(policies, 'gone', { uid: gone.metadata.uid });
    await applyDesired(client, policies, kept, { spec: { ...kept.spec, displayName: 'New' } });
    await client.create(policies, samplePolicy('made'));
    await server.controlPlane.restartApiServer();
    await until('the old version is compacted', async () => {
      try {
        for await (const _ of client.watch(policies, { resourceVersion: position, timeoutSeconds: 2 })) return false;
      } catch (error) {
        return isKubeError(error, 'gone');
      }
      return false;
    });
    held.release();
    await until('every removal is delivered', () => told.length >= 5);
    expect(told.slice(0, 2).toSorted()).toEqual(['gone Sample', 'kept Sample']);
    expect(told.slice(2).toSorted()).toEqual(['gone removed', 'kept New', 'made Sample']);
    expect(versionsOf(reflector.store.list())).toEqual(versionsOf((await listAll(client, policies)).items));
  });

  test('a list whose page token was compacted starts again', async () => {
    const client = await server.client();
    const names = Array.from({ length: 25 }, (_, index) => `page-${String(index).padStart(2, '0')}`);
    for (const name of names) await client.create(policies, samplePolicy(name));
    let expired = 0;
    const list = async (...[kind, options = {}]: Parameters<KubeClient['list']>) => {
      if (options.continue === undefined) return client.list(kind, options);
      // The page is requested after its token has expired: the server compacts every two seconds.
      return until(
        'the page token has expired',
        async () => {
          await client.create(policies, samplePolicy(`later-${expired}-${performance.now()}`.replaceAll('.', '-')));
          return client.list(kind, options).then(
            () => false as const,
            (error: unknown) => {
              if (isKubeError(error, 'gone')) expired += 1;
              return Promise.resolve({ error });
            },
          );
        },
        { everyMs: 500 },
      ).then(({ error }) => Promise.reject(error));
    };
    const { items } = await listAll<GuardrailPolicy>({ list: list as KubeClient['list'] }, policies);
    // There are two attempts with pages, and then one response without pages.
    expect(expired).toBe(2);
    const found = new Set(items.map(({ metadata }) => metadata.name));
    expect(names.filter((name) => !found.has(name))).toEqual([]);
  });

  test('a reflector misses no change while the server is restarted under a stream of writes', async () => {
    const client = await server.client();
    const told = new Map<string, string | undefined>();
    const reflector = follow(client, {
      onChange: (name, current) => void told.set(name, current?.metadata.resourceVersion),
    });
    await reflector.synced;
    const written = new Map<string, string | undefined>();
    const stop = new AbortController();
    const writing = writeUntil(client, stop.signal, written);
    await until('writes are seen', () => told.size >= 20);
    for (let restart = 0; restart < 2; restart += 1) {
      await server.controlPlane.restartApiServer();
      const before = written.size;
      await until('writes go on', () => written.size > before + 20);
    }
    stop.abort();
    await writing;
    const live = versionsOf((await listAll(client, policies)).items);
    await until('the cache equals the objects of the server', () => same(versionsOf(reflector.store.list()), live));
    for (const name of written.keys()) expect([name, told.get(name)]).toEqual([name, live[name]]);
    expect(Object.keys(live).length).toBeGreaterThan(20);
  });
});

function same(one: object, other: object): boolean {
  return JSON.stringify(Object.entries(one).toSorted()) === JSON.stringify(Object.entries(other).toSorted());
}

/** Creates, changes and removes objects; a write without a response is not repeated. */
async function writeUntil(
  client: KubeClient,
  signal: AbortSignal,
  written: Map<string, string | undefined>,
): Promise<void> {
  for (let index = 0; !signal.aborted; index += 1) {
    const name = `write-${index}`;
    try {
      const made = await client.create<GuardrailPolicy>(policies, samplePolicy(name));
      written.set(name, made.metadata.resourceVersion);
      const spec = { ...made.spec, displayName: 'Second' };
      const changed = await applyDesired(client, policies, made, { spec });
      if (index % 3 === 0) await client.delete(policies, name, { uid: changed.metadata.uid });
    } catch (error) {
      if (!isKubeError(error)) throw error;
    }
  }
}

test('a request to a server that does not exist fails, and the client can be disposed', async () => {
  const options = { url: 'https://127.0.0.1:1', credentials: { authorization: () => 'Bearer t' }, namespace: 'x' };
  await using client = createClient(options);
  await expect(client.list(policies)).rejects.toMatchObject({ code: 'network' });
});
