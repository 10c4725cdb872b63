import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileWriteError } from '#kit/files/write-atomic';
import { until } from '#kit/testing/until';
import { applyDesired } from '#kube/apply/apply';
import { listAll } from '#kube/client/list-all';
import { samplePolicy } from '#kube/testing/sample-resources';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import { decideCreate, type WriteDecision } from './decide-create.ts';
import { type ObjectFiles, openObjectFiles } from './object-files.ts';
import { openResourceStore } from './resource-store.ts';
import { type FolderApiData, makeDataDirectory, openFolder } from './testing/open-folder.ts';

const policies = kinds.guardrailPolicy;

test('resource versions increase after a restart, even if the newest object was deleted', async () => {
  await using data = await makeDataDirectory();
  let last = 0;
  for (let life = 0; life < 3; life += 1) {
    await using folder = await openFolder(data);
    const one = await folder.client.create<GuardrailPolicy>(policies, samplePolicy('newest'));
    expect(Number(one.metadata.resourceVersion)).toBeGreaterThan(last);
    await folder.client.delete(policies, 'newest', { uid: one.metadata.uid });
    last = Number((await folder.client.list(policies)).resourceVersion);
    expect(last).toBeGreaterThan(Number(one.metadata.resourceVersion));
  }
});

test('a restart of the store keeps every object byte for byte and writes nothing', async () => {
  await using data = await makeDataDirectory();
  const before = await (async () => {
    await using folder = await openFolder(data);
    for (const name of ['a', 'b', 'x'.repeat(253)]) await folder.client.create(policies, samplePolicy(name));
    return await listAll(folder.client, policies);
  })();
  const files = await snapshot(data);
  await using folder = await openFolder(data);
  expect((await listAll(folder.client, policies)).items).toEqual(before.items);
  expect(await snapshot(data)).toEqual(files);
});

test('files of an interrupted write are removed when the store starts', async () => {
  await using data = await makeDataDirectory();
  await (await openFolder(data))[Symbol.asyncDispose]();
  const leftover = join(data.resources, policies.plural, '.a.json.0.tmp');
  await writeFile(leftover, '{"half');
  await (await openFolder(data))[Symbol.asyncDispose]();
  expect(await readdir(join(data.resources, policies.plural))).toEqual([]);
});

test.each([
  ['not JSON', '{'],
  ['of another name', JSON.stringify(samplePolicy('other'))],
  ['no object', 'null'],
])('the store does not start with a stored file that is %s, and reports its path', async (_name, text) => {
  await using data = await makeDataDirectory();
  await (await openFolder(data))[Symbol.asyncDispose]();
  const path = join(data.resources, policies.plural, 'a.json');
  await writeFile(path, text);
  await expect(openFolder(data)).rejects.toMatchObject({ name: 'StoreError', message: expect.stringContaining(path) });
});

test('the store does not start with an unreadable version file', async () => {
  await using data = await makeDataDirectory();
  await (await openFolder(data))[Symbol.asyncDispose]();
  await writeFile(join(data.resources, 'versions.json'), '{}');
  await expect(openFolder(data)).rejects.toMatchObject({ name: 'StoreError', code: 'unreadable_versions' });
});

test('an object that an older release stored can lose its finalizer, but not become invalid in another way', async () => {
  await using data = await makeDataDirectory();
  await (async () => {
    await using folder = await openFolder(data);
    await folder.client.create(policies, samplePolicy('old', { finalizers: ['portcullis.dev/operator'] }));
  })();
  const path = join(data.resources, policies.plural, 'old.json');
  const stored = JSON.parse(await readFile(path, 'utf8')) as { spec: Record<string, unknown> };
  stored.spec['retired'] = true;
  await writeFile(path, JSON.stringify(stored));
  await using folder = await openFolder(data);
  const old = await folder.client.get<GuardrailPolicy>(policies, 'old');
  if (old === undefined) throw new Error('the object is deleted');
  const spec = { ...old.spec, displayName: 'New' };
  await expect(applyDesired(folder.client, policies, old, { spec })).rejects.toMatchObject({ code: 'invalid' });
  await folder.client.patchStatus(policies, 'old', [{ op: 'add', path: '/status', value: { observedGeneration: 1 } }]);
  const bare = await folder.client.patch(policies, 'old', [{ op: 'remove', path: '/metadata/finalizers' }]);
  expect(bare.metadata.finalizers).toBeUndefined();
});

test('dependents whose owner was deleted before a crash are collected at the next start', async () => {
  await using data = await makeDataDirectory();
  await (async () => {
    await using folder = await openFolder(data);
    const owner = await folder.client.create<GuardrailPolicy>(policies, samplePolicy('owner'));
    const { apiVersion, kind, metadata } = owner;
    const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
    await folder.client.create(policies, samplePolicy('owned', { ownerReferences }));
    const foreign = [{ apiVersion: 'v1', kind: 'Pod', name: 'pod', uid: 'elsewhere' }];
    await folder.client.create(policies, samplePolicy('foreign', { ownerReferences: foreign }));
  })();
  await rm(join(data.resources, policies.plural, 'owner.json'));
  await using folder = await openFolder(data);
  await until('the object of the deleted owner is removed', async () => {
    return (await folder.client.get(policies, 'owned')) === undefined;
  });
  expect(await folder.client.get(policies, 'foreign')).toBeDefined();
});

function failing(files: ObjectFiles, error: () => Error | undefined): ObjectFiles {
  const guard = <A extends unknown[]>(action: (...args: A) => Promise<void>) => {
    return async (...args: A): Promise<void> => {
      const fault = error();
      if (fault !== undefined) throw fault;
      await action(...args);
    };
  };
  return { load: files.load, write: guard(files.write), remove: guard(files.remove), reserve: guard(files.reserve) };
}

function create(name: string) {
  const input = {
    kind: policies,
    namespace: 'default',
    body: samplePolicy(name),
    uid: `uid-${name}`,
    now: new Date(0),
  };
  return (current: Parameters<typeof decideCreate>[1]): WriteDecision => decideCreate(input, current);
}

test('a write on a full disk is refused as storage_full, and a later write succeeds', async () => {
  await using data = await makeDataDirectory();
  let fault: Error | undefined = new FileWriteError('disk_full', '/x', undefined);
  const store = openResourceStore(
    failing(openObjectFiles(data.resources), () => fault),
    () => {},
  );
  await expect(store.change(policies, 'a', create('a'))).rejects.toMatchObject({
    reason: 'StorageFull',
    httpStatus: 507,
  });
  expect(store.get(policies, 'a')).toBeUndefined();
  fault = undefined;
  expect((await store.change(policies, 'a', create('a'))).object.name).toBe('a');
});

test('after a write with an unknown outcome the store refuses all writes', async () => {
  await using data = await makeDataDirectory();
  let fault: Error | undefined;
  const broken: unknown[] = [];
  const store = openResourceStore(
    failing(openObjectFiles(data.resources), () => fault),
    (error) => broken.push(error),
  );
  await store.change(policies, 'a', create('a'));
  fault = new FileWriteError('other', '/x', undefined);
  await expect(store.change(policies, 'b', create('b'))).rejects.toMatchObject({ reason: 'InternalError' });
  fault = undefined;
  await expect(store.change(policies, 'c', create('c'))).rejects.toMatchObject({ reason: 'InternalError' });
  expect(broken).toHaveLength(1);
  expect(store.list(policies).map(({ name }) => name)).toEqual(['a']);
});

test('the store queues up to 1,024 writes and asks the client of the next one to retry', async () => {
  await using data = await makeDataDirectory();
  const release = Promise.withResolvers<void>();
  const files = openObjectFiles(data.resources);
  const slow: ObjectFiles = {
    ...files,
    reserve: async (through) => release.promise.then(() => files.reserve(through)),
  };
  const store = openResourceStore(slow, () => {});
  const writes = Array.from({ length: 1_024 }, (_, at) => store.change(policies, `n-${at}`, create(`n-${at}`)));
  await expect(store.change(policies, 'more', create('more'))).rejects.toMatchObject({
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 1 },
  });
  release.resolve();
  await Promise.all(writes);
  expect((await store.change(policies, 'more', create('more'))).object.name).toBe('more');
});

/** Mounts a small file system; undefined if the test has no right to mount one. */
function mountSmall(path: string): Disposable | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return { [Symbol.dispose]: () => void execFileSync('umount', [path], { stdio: 'ignore' }) };
}

test('the store on a full file system loses no object and accepts deletions', async (context) => {
  await using data = await makeDataDirectory();
  await mkdir(data.resources);
  using disk = mountSmall(data.resources);
  context.skip(disk === undefined, 'this user may not mount a small file system');
  const created: string[] = [];
  const filling = async (folder: Awaited<ReturnType<typeof openFolder>>) => {
    for (let at = 0; at < 1_000; at += 1) {
      const name = `fill-${created.length}`;
      const annotations = { padding: 'x'.repeat(16_000) };
      await folder.client.create(policies, samplePolicy(name, { annotations }));
      created.push(name);
    }
  };
  await (async () => {
    await using folder = await openFolder(data);
    await expect(filling(folder)).rejects.toMatchObject({ code: 'storage_full' });
    expect(await names(folder)).toEqual([...created].sort());
    const first = await folder.client.get<GuardrailPolicy>(policies, 'fill-0');
    await folder.client.delete(policies, 'fill-0', { uid: first?.metadata.uid ?? '' });
    await folder.client.create(policies, samplePolicy('again'));
  })();
  await (async () => {
    await using folder = await openFolder(data);
    expect(await names(folder)).toEqual(['again', ...created.slice(1)].sort());
  })();
});

async function names(folder: Awaited<ReturnType<typeof openFolder>>): Promise<readonly string[]> {
  return (await listAll(folder.client, policies)).items.map((item) => item.metadata.name);
}

async function snapshot(data: FolderApiData): Promise<ReadonlyMap<string, string>> {
  const files = await readdir(data.resources, { recursive: true, withFileTypes: true });
  const entries = files
    .filter((file) => file.isFile())
    .map(async (file) => {
      const path = join(file.parentPath, file.name);
      return [path, await readFile(path, 'utf8')] as const;
    });
  return new Map(await Promise.all(entries));
}
