import { statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { type Clock, systemClock } from '#kit/time/clock';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { sampleBinding, samplePolicy, sampleReport } from '#kube/testing/sample-resources';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { appliedHashAnnotation, keepAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { type FolderApiData, makeDataDirectory, openFolder } from './testing/open-folder.ts';
import type { FolderReport } from './watched-folder.ts';

const policies = kinds.guardrailPolicy;
const absent = { throwIfNoEntry: false } as const;
const bindings = kinds.modelBinding;

type Setup = AsyncDisposable & {
  readonly data: FolderApiData;
  readonly client: KubeClient;
  /** Writes a file atomically. */
  write(file: string, text: string): Promise<void>;
  /** The report, once it satisfies the condition. */
  report(wanted: (report: FolderReport) => boolean): Promise<FolderReport>;
  applied(...files: readonly string[]): Promise<FolderReport>;
};

async function setUp(files: Record<string, string> = {}, clockOf?: (data: FolderApiData) => Clock): Promise<Setup> {
  const data = await makeDataDirectory();
  const clock = clockOf?.(data);
  await mkdir(data.apply);
  for (const [file, text] of Object.entries(files)) await writeFile(join(data.apply, file), text);
  const folder = await openFolder(data, { watched: true, ...(clock === undefined ? {} : { clock }) });
  const report: Setup['report'] = (wanted) =>
    until('the report', async () => {
      const found = JSON.parse(await readFile(join(data.apply, '.problems.json'), 'utf8')) as FolderReport;
      return wanted(found) ? found : false;
    });
  return {
    data,
    client: folder.client,
    report,
    async write(file, text) {
      const temporary = join(data.apply, `.${file}.new`);
      await writeFile(temporary, text);
      await rename(temporary, join(data.apply, file));
    },
    applied: (...wanted) =>
      report(({ files: all }) =>
        wanted.every((file) => all.some((one) => one.file === file && one.state === 'applied')),
      ),
    async [Symbol.asyncDispose]() {
      await folder[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
    },
  };
}

const yaml = (...resources: readonly object[]) => resources.map((one) => stringify(one)).join('---\n');
const policy = (client: KubeClient, name: string) => client.get<GuardrailPolicy>(policies, name);

async function changed(client: KubeClient, name: string, since: Stored<GuardrailPolicy> | undefined) {
  return until('a change', async () => {
    const found = await policy(client, name);
    return found?.metadata.resourceVersion === since?.metadata.resourceVersion ? false : found;
  });
}

test('files of the watched folder with the extensions .yaml, .yml and .json are applied, at the start and later', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one'), sampleBinding('two')), 'ignored.txt': 'x: [' });
  const first = await one.applied('a.yaml');
  expect(first.problems).toEqual([]);
  expect((await policy(one.client, 'one'))?.spec).toMatchObject(samplePolicy('one').spec);
  expect(await one.client.get(bindings, 'two')).toBeDefined();
  await one.write('b.yml', yaml(samplePolicy('three')));
  await one.write('c.json', JSON.stringify(samplePolicy('four'), null, '\t'));
  const { files } = await one.applied('b.yml', 'c.json');
  expect(files.map(({ file }) => file)).toEqual(['a.yaml', 'b.yml', 'c.json']);
  expect(await policy(one.client, 'four')).toBeDefined();
});

test('content and hash of a watched file are written together, with a new apply token if the file has none', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one'), sampleBinding('two')) });
  await one.applied('a.yaml');
  const stored = await policy(one.client, 'one');
  const binding = await one.client.get<ModelBinding>(bindings, 'two');
  for (const object of [stored, binding]) {
    expect(object?.metadata.generation).toBe(1);
    expect(object?.metadata.annotations?.[appliedHashAnnotation]).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(stored?.spec.change).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(binding?.spec.apply).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  await one.write('a.yaml', yaml(samplePolicy('one', { labels: { team: 'x' } }), sampleBinding('two')));
  const again = await changed(one.client, 'one', stored);
  expect(again.metadata.labels).toEqual({ team: 'x' });
  expect(again.spec.change).not.toBe(stored?.spec.change);
  expect((await one.client.get<ModelBinding>(bindings, 'two'))?.spec.apply).toBe(binding?.spec.apply);
});

test('the apply token in a watched file is kept', async () => {
  const given = samplePolicy('one');
  await using one = await setUp({ 'a.yaml': yaml({ ...given, spec: { ...given.spec, change: 'mine' } }) });
  await one.applied('a.yaml');
  expect((await policy(one.client, 'one'))?.spec.change).toBe('mine');
});

test('a watched file is not applied again after a restart, a touch or an edit of its object', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one')) });
  await one.applied('a.yaml');
  const stored = await policy(one.client, 'one');
  if (stored === undefined) throw new Error('nothing was applied');
  const spec = { ...stored.spec, displayName: 'Edited' };
  const edited = await applyDesired(one.client, policies, stored, { spec });
  await one.write('a.yaml', yaml(samplePolicy('one')));
  await one.write('b.yaml', yaml(samplePolicy('two')));
  await one.applied('a.yaml', 'b.yaml');
  expect(await policy(one.client, 'one')).toEqual(edited);
});

test('a second start of the operator writes nothing for unchanged watched files', async () => {
  await using data = await makeDataDirectory();
  await mkdir(data.apply);
  await writeFile(join(data.apply, 'a.yaml'), yaml(samplePolicy('one')));
  const versions: (string | undefined)[] = [];
  for (let life = 0; life < 2; life += 1) {
    await using folder = await openFolder(data, { watched: true });
    await until('the first look', async () => (await readReport(folder.api.url)).files[0]?.state === 'applied');
    versions.push((await policy(folder.client, 'one'))?.metadata.resourceVersion);
  }
  expect(versions[0]).toBeDefined();
  expect(versions[1]).toBe(versions[0]);
});

test('deleting a file of the watched folder deletes no object', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one')) });
  await one.applied('a.yaml');
  await rm(join(one.data.apply, 'a.yaml'));
  await one.report(({ files }) => files.length === 0);
  expect(await policy(one.client, 'one')).toBeDefined();
});

test('a watched folder that is deleted is created and watched again', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one')) });
  await one.applied('a.yaml');
  await rm(one.data.apply, { recursive: true });
  await one.report(({ files }) => files.length === 0);
  expect(await policy(one.client, 'one')).toBeDefined();
  for (const name of ['two', 'three']) {
    await one.write(`${name}.yaml`, yaml(samplePolicy(name)));
    await one.applied(`${name}.yaml`);
  }
});

test('no document of a watched file with a problem is applied, and each problem has document, line and field', async () => {
  const wrong = { ...sampleBinding('two'), spec: { ...sampleBinding('two').spec, extra: 1, replicas: 0 } };
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one'), wrong, { kind: 'Pod' }) });
  const { files, problems } = await one.report((report) => report.problems.length > 0);
  expect(files).toEqual([{ file: 'a.yaml', state: 'refused' }]);
  expect(problems).toContainEqual(
    expect.objectContaining({
      file: 'a.yaml',
      document: 2,
      field: 'spec.extra',
      message: expect.stringMatching(/^is an unknown field/),
    }),
  );
  expect(problems.map(({ document, field }) => [document, field])).toContainEqual([2, 'spec.replicas']);
  expect(problems.map(({ document, field }) => [document, field])).toContainEqual([3, 'kind']);
  expect(problems.every(({ line }) => line !== undefined)).toBe(true);
  expect(await policy(one.client, 'one')).toBeUndefined();
  await one.write('a.yaml', yaml(samplePolicy('one'), sampleBinding('two')));
  expect((await one.applied('a.yaml')).problems).toEqual([]);
  expect(await policy(one.client, 'one')).toBeDefined();
});

test('internal kinds and invalid YAML in a watched file are refused, and other files are applied', async () => {
  await using one = await setUp({
    'internal.yaml': yaml(sampleReport('r')),
    'broken.yaml': 'kind: [',
    'good.yaml': yaml(samplePolicy('good')),
  });
  const { files, problems } = await one.applied('good.yaml');
  expect(files.map(({ file, state }) => [file, state])).toEqual([
    ['broken.yaml', 'refused'],
    ['good.yaml', 'applied'],
    ['internal.yaml', 'refused'],
  ]);
  expect(new Set(problems.map(({ file }) => file))).toEqual(new Set(['internal.yaml', 'broken.yaml']));
});

test('when the server refuses a watched file, the refusal is reported and not retried', async () => {
  const withId = (id: string) => yaml(samplePolicy('one', { labels: { 'portcullis.dev/id': id } }));
  await using one = await setUp({ 'a.yaml': withId('01990000-0000-7000-8000-000000000001') });
  await one.applied('a.yaml');
  await one.write('a.yaml', withId('01990000-0000-7000-8000-000000000002'));
  const { files, problems } = await one.report((report) => report.problems.length > 0);
  expect(files).toEqual([{ file: 'a.yaml', state: 'refused' }]);
  expect(problems).toEqual([
    {
      file: 'a.yaml',
      document: 1,
      field: 'metadata.labels[portcullis.dev/id]',
      message: expect.stringMatching(/once/),
    },
  ]);
});

test('two watched files with the same resource are both refused until one is changed', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one')), 'b.yaml': yaml(samplePolicy('one')) });
  const { problems } = await one.report((report) => report.problems.length === 2);
  expect(problems.map(({ file, message }) => [file, message])).toEqual([
    ['a.yaml', 'is also in b.yaml'],
    ['b.yaml', 'is also in a.yaml'],
  ]);
  expect(await policy(one.client, 'one')).toBeUndefined();
  await rm(join(one.data.apply, 'a.yaml'));
  await one.applied('b.yaml');
  expect(await policy(one.client, 'one')).toBeDefined();
});

test('a binding under deletion is created again after it is deleted', async () => {
  await using one = await setUp();
  const old = await one.client.create<ModelBinding>(bindings, sampleBinding('one', { finalizers: ['a.b/c'] }));
  await one.client.delete(bindings, 'one', { uid: old.metadata.uid });
  await one.write('a.yaml', yaml(sampleBinding('one')));
  const { problems } = await one.report((report) => report.files[0]?.state === 'waiting');
  expect(problems[0]?.message).toMatch(/being deleted/);
  const marked = await one.client.get<ModelBinding>(bindings, 'one');
  if (marked === undefined) throw new Error('the object is deleted');
  await applyDesired(one.client, bindings, marked, { finalizers: [] });
  await one.applied('a.yaml');
  expect((await one.client.get<ModelBinding>(bindings, 'one'))?.metadata.uid).not.toBe(old.metadata.uid);
});

test('a watched file cancels the deletion of its policy', async () => {
  await using one = await setUp();
  const old = await one.client.create<GuardrailPolicy>(policies, samplePolicy('one', { finalizers: ['a.b/c'] }));
  await one.client.delete(policies, 'one', { uid: old.metadata.uid });
  await one.write('a.yaml', yaml(samplePolicy('one')));
  await one.applied('a.yaml');
  const kept = await policy(one.client, 'one');
  expect(kept?.metadata.annotations?.[keepAnnotation]).toBe(kept?.metadata.deletionTimestamp);
});

test('a watched file that is saved again without a change does not modify a policy under deletion', async () => {
  await using one = await setUp({ 'a.yaml': yaml(samplePolicy('one', { finalizers: ['a.b/c'] })) });
  await one.applied('a.yaml');
  const stored = await policy(one.client, 'one');
  if (stored === undefined) throw new Error('nothing was applied');
  const held = { spec: { ...stored.spec, displayName: 'Edited' }, finalizers: ['a.b/c'] };
  const edited = await applyDesired(one.client, policies, stored, held);
  await one.client.delete(policies, 'one', { uid: edited.metadata.uid });
  const marked = await policy(one.client, 'one');
  await one.write('a.yaml', yaml(samplePolicy('one', { finalizers: ['a.b/c'] })));
  const kept = await changed(one.client, 'one', marked);
  expect(kept.metadata.annotations?.[keepAnnotation]).toBe(kept.metadata.deletionTimestamp);
  expect(kept.spec).toEqual(edited.spec);
  // After the file is saved again unchanged, the object is not written again.
  await one.write('a.yaml', yaml(samplePolicy('one', { finalizers: ['a.b/c'] })));
  await one.write('b.yaml', yaml(samplePolicy('two')));
  await one.applied('a.yaml', 'b.yaml');
  expect(await policy(one.client, 'one')).toEqual(kept);
});

test('a watched file that is still being written is not read', async () => {
  let isWritten = false;
  /** The fake clock does not advance between two writes, however slow the machine is. */
  const clockOf = (data: FolderApiData): Clock => ({
    now: systemClock.now,
    date: () => (isWritten ? undefined : statSync(join(data.apply, 'a.yaml'), absent)?.mtime) ?? systemClock.date(),
  });
  await using one = await setUp({}, clockOf);
  const path = join(one.data.apply, 'a.yaml');
  const text = yaml(samplePolicy('one'));
  for (let end = 1; end < text.length; end += Math.ceil(text.length / 20)) {
    await writeFile(path, text.slice(0, end));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await writeFile(path, text);
  isWritten = true;
  expect((await one.applied('a.yaml')).problems).toEqual([]);
  expect((await policy(one.client, 'one'))?.metadata.generation).toBe(1);
});

async function readReport(url: string): Promise<FolderReport> {
  const headers = { authorization: 'Bearer the-token' };
  return (await (await fetch(`${url}/portcullis/v1/watched-folder`, { headers })).json()) as FolderReport;
}

test('a file that removes the guardrail of a binding is applied only with a confirmation', async () => {
  await using folder = await setUp();
  const guarded = sampleBinding('shielded');
  const guardrail = { mode: 'Policy', policyRef: { name: 'guard', revision: 1 } } as const;
  const { metadata } = await folder.client.create(bindings, { ...guarded, spec: { ...guarded.spec, guardrail } });
  await folder.write('open.yaml', stringify(sampleBinding('shielded')));
  const refused = await folder.report(({ problems }) => problems.length > 0);
  expect(refused.problems[0]).toMatchObject({
    file: 'open.yaml',
    message: expect.stringContaining('would become UNGUARDED'),
  });
  const annotations = { 'portcullis.dev/confirm-unguarded': `${metadata.uid}.${metadata.generation}` };
  await folder.write('open.yaml', stringify(sampleBinding('shielded', { annotations })));
  await folder.applied('open.yaml');
  expect((await folder.client.get<ModelBinding>(bindings, 'shielded'))?.spec.guardrail).toEqual({ mode: 'None' });
});
