import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openTokenFile } from '#kit/http/token-file';
import { applyDesired } from '#kube/apply/apply';
import { createClient, type KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import { samplePolicy } from '#kube/testing/sample-resources';
import { compareVersions } from '#kube/watch/compare-versions';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { type FolderApiData, makeDataDirectory } from './testing/open-folder.ts';

const script = fileURLToPath(new URL('./testing/serve-folder.ts', import.meta.url));
const rounds = 30;
const policies = kinds.guardrailPolicy;

/** The state of one name from the view of its writer: the last acknowledged state, and the write in flight. */
type Known = { acknowledged: Stored<GuardrailPolicy> | undefined; pending: 'create' | 'patch' | 'delete' | undefined };

test('an acknowledged write survives a kill of the process at any time', async () => {
  await using data = await makeDataDirectory();
  const known = new Map<string, Known>();
  let highest = '0';
  let acknowledged = 0;
  for (let round = 0; round < rounds; round += 1) {
    await using life = await serve(data);
    await using client = createClient({ url: life.url, tokenFile: openTokenFile(data.token), namespace: 'default' });
    highest = await checkState(client, known, highest);
    let left = 8 + ((round * 7) % 40);
    const onWritten = () => {
      left -= 1;
      if (left === 0) setTimeout(() => life.child.kill('SIGKILL'), round % 4);
      acknowledged += 1;
    };
    await Promise.all([0, 1, 2, 3].map((writer) => writeUntilDead(client, writer, known, onWritten)));
  }
  await using life = await serve(data);
  await using client = createClient({ url: life.url, tokenFile: openTokenFile(data.token), namespace: 'default' });
  await checkState(client, known, highest);
  expect(acknowledged).toBeGreaterThan(rounds * 8);
  expect(await leftovers(data)).toEqual([]);
});

type Life = AsyncDisposable & { readonly child: ChildProcess; readonly url: string };

/** Starts a process that is killed at the end of its scope and exits with its parent process. */
async function serve(data: FolderApiData): Promise<Life> {
  const child = spawn(process.execPath, [script, data.resources, data.token], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, PORTCULLIS_EXIT_WITH_STDIN: '1' },
  });
  const exit = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    child,
    url: (JSON.parse(line) as { listening: string }).listening,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Creates, changes and deletes its own objects until the server is killed. */
async function writeUntilDead(
  client: KubeClient,
  writer: number,
  all: Map<string, Known>,
  onWritten: () => void,
): Promise<void> {
  for (let step = 0; ; step += 1) {
    const name = `w${writer}-${step % 12}`;
    const known = all.get(name) ?? { acknowledged: undefined, pending: undefined };
    all.set(name, known);
    try {
      await writeOnce(client, name, known, step);
      onWritten();
    } catch (error) {
      if (isKubeError(error, 'network')) return;
      throw error;
    }
  }
}

async function writeOnce(client: KubeClient, name: string, known: Known, step: number): Promise<void> {
  const current = known.acknowledged;
  if (current === undefined) {
    known.pending = 'create';
    known.acknowledged = await client.create<GuardrailPolicy>(policies, samplePolicy(name));
  } else if (step % 5 === 4) {
    known.pending = 'delete';
    await client.delete(policies, name, { uid: current.metadata.uid });
    known.acknowledged = undefined;
  } else {
    known.pending = 'patch';
    const spec = { ...current.spec, displayName: `${step}-${Math.random()}` };
    known.acknowledged = await applyDesired(client, policies, current, { spec });
  }
  known.pending = undefined;
}

/** Compares the served state with the known state; an interrupted write must be complete or absent. */
async function checkState(client: KubeClient, all: Map<string, Known>, highest: string): Promise<string> {
  const list = await listAll<GuardrailPolicy>(client, policies);
  expect(compareVersions(list.resourceVersion, highest)).not.toBe(-1);
  const served = new Map(list.items.map((item) => [item.metadata.name, item]));
  for (const [name, known] of all) {
    checkObject(served.get(name), known);
    known.acknowledged = served.get(name);
    known.pending = undefined;
    served.delete(name);
  }
  expect([...served.keys()]).toEqual([]);
  const probe = await client.create<GuardrailPolicy>(policies, samplePolicy('probe'));
  await client.delete(policies, 'probe', { uid: probe.metadata.uid });
  expect(compareVersions(probe.metadata.resourceVersion, list.resourceVersion)).toBe(1);
  return (await client.list(policies)).resourceVersion;
}

function checkObject(found: Stored<GuardrailPolicy> | undefined, { acknowledged, pending }: Known): void {
  switch (pending) {
    case undefined:
      expect(found).toEqual(acknowledged);
      return;
    case 'create':
      if (found !== undefined) expect(found.spec).toEqual(samplePolicy('any').spec);
      return;
    case 'delete':
      if (found !== undefined) expect(found).toEqual(acknowledged);
      return;
    case 'patch': {
      const before = acknowledged?.metadata.resourceVersion ?? '0';
      expect(found?.metadata.uid).toBe(acknowledged?.metadata.uid);
      if (found?.metadata.resourceVersion === before) expect(found).toEqual(acknowledged);
      else expect(found?.metadata.generation).toBe((acknowledged?.metadata.generation ?? 0) + 1);
    }
  }
}

/** Other files in the folder after a restart, which removes leftover files. */
async function leftovers(data: FolderApiData): Promise<readonly string[]> {
  const files = await readdir(join(data.resources, policies.plural));
  return files.filter((file) => !file.endsWith('.json'));
}
