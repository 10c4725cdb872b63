import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { idLabel } from '#resources/kinds';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { manifestOfWord } from './testing/policy-text.ts';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' } });
});
afterAll(() => platform[Symbol.asyncDispose]());

type Given = { readonly input?: string; readonly environment?: Readonly<Record<string, string>> };
const run = (args: readonly string[], given: Given = {}): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...given });
const namesOf = async (): Promise<string> => (await run(['get', 'gp', '-o', 'name'])).stdout;
const wordOf = async (name: string): Promise<string> =>
  (await run(['get', 'gp', name, '-o', 'jsonpath={.spec.definition.request.baseline[0].stopList.terms[0]}'])).stdout;

test('portcullis apply accepts several files, a folder and standard input', async () => {
  using folder = folderWithFiles();
  const files = [
    folder.write('a.yaml', manifestOfWord('from-a', 'a')),
    folder.write('b.yaml', manifestOfWord('from-b', 'b')),
  ];
  const given = await run(['apply', '-f', files[0] ?? '', '-f', files[1] ?? '', '-f', '-'], {
    input: manifestOfWord('from-input', 'c'),
  });
  expect(given).toMatchObject({
    code: 0,
    stdout: 'GuardrailPolicy from-a created\nGuardrailPolicy from-b created\nGuardrailPolicy from-input created\n',
  });
  expect((await run(['apply', '-f', folder.path])).stdout).toMatch(/from-a unchanged\n.*from-b unchanged\n$/);
  const twice = await run(['apply', '-f', '-', '-f', '-'], { input: '' });
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('Standard input can be read only once') });
});

test('an apply whose second resource the server refuses reports the first one, and does not say that nothing was changed', async () => {
  const binding = JSON.parse((await run(['get', 'mb', 'guarded-echo', '-o', 'json'])).stdout);
  const { apiVersion, kind, metadata, spec } = binding;
  const labels = { [idLabel]: '01890a5d-ac96-774b-bcce-b302099a8057' };
  const refused = JSON.stringify({ apiVersion, kind, metadata: { name: metadata.name, labels }, spec });
  const both = (name: string) => `${manifestOfWord(name, 'a')}---\n${refused}`;
  const end = await run(['apply', '-f', '-', '-o', 'name'], { input: both('before-a-refusal') });
  expect(end).toMatchObject({ code: 9, stdout: 'guardrailpolicy.portcullis.dev/before-a-refusal\n' });
  expect(end.stderr).toContain(`The server refused the resource: metadata.labels[${idLabel}]`);
  expect(await namesOf()).toContain('before-a-refusal');
  const text = await run(['apply', '-f', '-'], { input: both('before-another') });
  expect(text).toMatchObject({ code: 9, stdout: 'GuardrailPolicy before-another created\n' });
  const invalid = await run(['apply', '-f', '-'], {
    input: `${manifestOfWord('never', 'a')}---\nkind: ModelBinding\n`,
  });
  expect(invalid).toMatchObject({ code: 2, stdout: '' });
  expect(await namesOf()).not.toContain('never');
});

describe.each([
  ['client', ' (dry run)'],
  ['server', ' (server dry run)'],
])('--dry-run=%s', (mode, suffix) => {
  test(`a dry run of portcullis apply and delete prints the changes and writes nothing${suffix}`, async () => {
    const name = `dry-${mode}`;
    const dry = (word: string) => run(['apply', '-f', '-', `--dry-run=${mode}`], { input: manifestOfWord(name, word) });
    expect((await dry('one')).stdout).toBe(`GuardrailPolicy ${name} created${suffix}\n`);
    expect(await namesOf()).not.toContain(name);
    await run(['apply', '-f', '-'], { input: manifestOfWord(name, 'one') });
    expect((await dry('one')).stdout).toBe(`GuardrailPolicy ${name} unchanged${suffix}\n`);
    expect((await dry('two')).stdout).toBe(`GuardrailPolicy ${name} configured${suffix}\n`);
    expect(await wordOf(name)).toBe('one');
    const gone = await run(['delete', 'policy', name, `--dry-run=${mode}`]);
    expect(gone).toMatchObject({ code: 0, stdout: `GuardrailPolicy ${name} is deleted${suffix}.\n` });
    expect(await namesOf()).toContain(name);
  });

  test(`a dry run of commands on bindings and policies prints the changes, does not wait and writes nothing${suffix}`, async () => {
    const generations = async () =>
      (await run(['get', 'mb,gp', '-o', 'jsonpath={.items[*].metadata.generation}'])).stdout;
    const before = await generations();
    const dry = (...args: readonly string[]) => run([...args, `--dry-run=${mode}`]);
    const applied = { code: 0, stdout: `ModelBinding guarded-echo set to revision 1${suffix}\n`, stderr: '' };
    expect(await dry('apply-revision', 'guarded-echo', '1', '--wait')).toEqual(applied);
    expect(await dry('rollback', 'guarded-echo', '--to', '1', '--wait')).toEqual(applied);
    expect(await dry('reapply', 'guarded-echo', '--wait')).toEqual(applied);
    // No protection is lost, so that no confirmation is required.
    const unguarded = `ModelBinding guarded-echo set to UNGUARDED${suffix}\n`;
    expect(await dry('unbind', 'guarded-echo', '--wait')).toMatchObject({ code: 0, stdout: unguarded });
    const bare = JSON.parse((await dry('unbind', 'guarded-echo', '-o', 'json')).stdout);
    expect(bare.spec.guardrail).toEqual({ mode: 'None' });
    const archived = `GuardrailPolicy guarded-chat is archived${suffix}\n`;
    expect(await dry('archive', 'guarded-chat')).toMatchObject({ code: 0, stdout: archived });
    expect(await dry('rollback', 'guarded-echo', '--to', '99')).toMatchObject({ code: 3, stdout: '' });
    expect(await generations()).toBe(before);
  });
});

test('portcullis apply --dry-run of a binding that loses its guardrail asks for no confirmation and writes nothing', async () => {
  const bare = (await run(['get', 'mb', 'guarded-echo', '-o', 'json'])).stdout;
  const { apiVersion, kind, metadata, spec } = JSON.parse(bare);
  const manifest = JSON.stringify({
    apiVersion,
    kind,
    metadata: { name: metadata.name },
    spec: { ...spec, guardrail: { mode: 'None' } },
  });
  const asked = await run(['apply', '-f', '-', '--dry-run=client'], { input: manifest });
  expect(asked).toMatchObject({ code: 0, stdout: 'ModelBinding guarded-echo configured (dry run)\n' });
  expect(await run(['apply', '-f', '-'], { input: manifest })).toMatchObject({ code: 13 });
  expect((await run(['get', 'mb', 'guarded-echo'])).stdout).not.toContain('UNGUARDED');
});

test('portcullis diff -f shows what apply would change, and exits with 15 only if apply would change something', async () => {
  await run(['apply', '-f', '-'], { input: manifestOfWord('compared', 'before') });
  const diff = (text: string) => run(['diff', '-f', '-'], { input: text });
  expect(await diff(manifestOfWord('compared', 'before'))).toMatchObject({
    code: 0,
    stdout: 'The platform matches the files.\n',
  });
  const changed = await diff(manifestOfWord('compared', 'after', { labels: { team: 'chat' } }));
  expect(changed.code).toBe(15);
  expect(changed.stdout).toContain(
    '--- GuardrailPolicy compared on the platform\n+++ GuardrailPolicy compared in the file\n',
  );
  expect(changed.stdout).toMatch(/^\+ {4}team: chat$/m);
  expect(changed.stdout).toMatch(/^- +- before$/m);
  expect(changed.stdout).toMatch(/^\+ +- after$/m);
  expect(changed.stderr).toContain('Different from the files: GuardrailPolicy compared.');
  expect((await diff(manifestOfWord('new-one', 'x'))).code).toBe(15);
  expect(await wordOf('compared')).toBe('before');
  expect(await run(['diff'])).toMatchObject({ code: 2 });
  expect(await run(['diff', 'compared', '-f', '-'])).toMatchObject({ code: 2 });
});

test('portcullis delete accepts several names, labels and files, and deletes nothing if one name does not exist', async () => {
  const deleted = (name: string) => new RegExp(`^GuardrailPolicy ${name} is (being )?deleted\\.\n$`);
  const labelled = { labels: { test: 'delete' } };
  const texts = ['d1', 'd2', 'd3', 'd4'].map((name) => manifestOfWord(name, name, name > 'd2' ? labelled : {}));
  await run(['apply', '-f', '-'], { input: texts.join('---\n') });
  expect(await run(['delete', 'policy', 'd1', 'missing'])).toMatchObject({ code: 3 });
  expect(await namesOf()).toContain('/d1\n');
  for (const selector of ['', ' ', ',', 'test=delete,']) {
    expect([selector, await run(['delete', 'policies', '-l', selector, '--yes'])]).toMatchObject([
      selector,
      { code: 2 },
    ]);
  }
  for (const args of [['gp/d1'], ['-f', '-']]) {
    const limited = await run(['delete', ...args, '-l', 'test=other', '--ignore-not-found', '--yes'], {
      input: texts[1] ?? '',
    });
    expect(limited).toMatchObject({ code: 2, stderr: expect.stringContaining('give one of the two') });
  }
  const elsewhere = (texts[1] ?? '').replace(/^metadata:$/m, 'metadata:\n  namespace: elsewhere');
  expect(await run(['delete', '-f', '-', '--yes'], { input: elsewhere })).toMatchObject({ code: 2, stdout: '' });
  expect((await run(['delete', 'gp/d1', 'gp/missing', '--ignore-not-found'])).stdout).toMatch(deleted('d1'));
  expect((await run(['delete', '-f', '-'], { input: texts[1] ?? '' })).stdout).toMatch(deleted('d2'));
  expect((await run(['delete', 'gp', '-l', 'test=delete', '-o', 'name'])).stdout).toBe(
    'guardrailpolicy.portcullis.dev/d3\nguardrailpolicy.portcullis.dev/d4\n',
  );
  for (const words of [[], ['gp'], ['all', '-l', 'a=b'], ['gprev', 'x']]) {
    expect(await run(['delete', ...words]), words.join(' ')).toMatchObject({ code: 2, stdout: '' });
  }
});

describe('edit', () => {
  const edit = (command: string, ...more: readonly string[]) =>
    run(['edit', 'policy', 'edited', ...more], { environment: { KUBE_EDITOR: command, EDITOR: 'false' } });
  beforeAll(async () => {
    await run(['apply', '-f', '-'], { input: manifestOfWord('edited', 'first') });
  });

  test('portcullis edit applies the saved file, and writes nothing if it is unchanged', async () => {
    expect(await edit('sed -i s/first/second/')).toMatchObject({
      code: 0,
      stdout: 'GuardrailPolicy edited configured\n',
    });
    expect(await wordOf('edited')).toBe('second');
    const same = await edit('true');
    expect(same).toMatchObject({ code: 0, stdout: 'The text was not changed: nothing was written.\n' });
    const [unchanged] = JSON.parse((await edit('true', '-o', 'json')).stdout);
    expect(unchanged).toMatchObject({ action: 'unchanged', object: { metadata: { name: 'edited' } } });
    expect((await edit('true', '-o', 'name')).stdout).toBe('guardrailpolicy.portcullis.dev/edited\n');
  });

  test('portcullis edit opens EDITOR if KUBE_EDITOR is empty', async () => {
    const environment = { KUBE_EDITOR: '', EDITOR: 'no-such-editor' };
    const end = await run(['edit', 'policy', 'edited'], { environment });
    expect(end).toMatchObject({ code: 2, stderr: expect.stringContaining('The editor no-such-editor cannot') });
  });

  test('portcullis edit --dry-run applies nothing and keeps the text', async () => {
    const before = await wordOf('edited');
    const dry = await edit(`sed -i s/${before}/tried/`, '--dry-run=server');
    expect(dry).toMatchObject({ code: 0, stdout: 'GuardrailPolicy edited configured (server dry run)\n' });
    const file = /^Your text is kept in (\S+\.yaml): /.exec(dry.stderr)?.[1] ?? '';
    expect(readFileSync(file, 'utf8')).toContain('tried');
    expect(await wordOf('edited')).toBe(before);
  });

  test('portcullis edit removes labels and annotations that are missing in the edited text, and records the message of the change', async () => {
    const metadata = { labels: { team: 'a', stays: 'b' }, annotations: { memo: 'c' } };
    await run(['apply', '-f', '-', '--message', 'reason one'], { input: manifestOfWord('marked', 'first', metadata) });
    const editor = { environment: { KUBE_EDITOR: 'sed -i -e /team:/d -e /memo:/d -e s/first/second/' } };
    const removing = await run(['edit', 'policy', 'marked', '--message', 'reason two'], editor);
    expect(removing).toMatchObject({ code: 0, stdout: 'GuardrailPolicy marked configured\n' });
    const { metadata: left } = JSON.parse((await run(['get', 'policy', 'marked', '-o', 'json'])).stdout);
    expect(left.labels).toEqual({ stays: 'b', [idLabel]: expect.any(String) });
    expect(left.annotations).not.toHaveProperty('memo');
    await until('the message is recorded with the revision', async () => {
      const { stdout } = await run(['history', 'marked', '-o', 'json']);
      return stdout.includes('reason two');
    });
    expect((await run(['history', 'marked'])).stdout).toContain('reason one');
  });

  test('portcullis edit keeps an invalid text and prints where it is saved, and refuses a changed name', async () => {
    const invalid = await edit('sed -i s/token/tokn/');
    expect(invalid).toMatchObject({ code: 2, stdout: '' });
    expect(invalid.stderr).toContain('match');
    const file = /Your text is kept in (\S+\.yaml): correct it/.exec(invalid.stderr)?.[1] ?? '';
    expect(existsSync(file) && readFileSync(file, 'utf8')).toContain('match: tokn');
    expect((await edit('sed -i s/name:.edited/name:\\x20other/')).stderr).toContain('kind and name cannot be changed');
    expect(await wordOf('edited')).not.toBe('');
    expect(await edit('false')).toMatchObject({ code: 2, stderr: expect.stringContaining('ended with exit code 1') });
    expect((await edit('no-such-editor')).stderr).toContain('cannot be started: set KUBE_EDITOR or EDITOR');
  });

  test('portcullis edit does not overwrite a change that another writer made meanwhile', async () => {
    using folder = folderWithFiles();
    const other = folder.write('other.yaml', manifestOfWord('edited', 'of-another-writer'));
    const script = `${process.execPath} cli/main.ts apply -f ${other} --data ${platform.data} > /dev/null\nsed -i s/displayName:.edited/displayName:\\ mine/ "$1"\n`;
    const end = await edit(`sh ${folder.write('editor.sh', script)}`);
    expect(end).toMatchObject({ code: 10, stderr: expect.stringContaining('Your text is kept in') });
    expect(await wordOf('edited')).toBe('of-another-writer');
  });

  test('portcullis edit asks for confirmation before a guardrail is removed, as apply does', async () => {
    const removing = 'sed -i -e s/mode:.Policy/mode:\\x20None/ -e /policyRef:/,/revision:/d';
    const end = await run(['edit', 'mb/guarded-echo'], { environment: { KUBE_EDITOR: removing } });
    expect(end.code).toBe(13);
    expect((await run(['get', 'mb', 'guarded-echo'])).stdout).not.toContain('UNGUARDED');
  });
});

test('portcullis explain describes kinds and fields with types, choices, limits and required members', async () => {
  const policy = (await run(['explain', 'gp'])).stdout;
  expect(policy).toContain('KIND:     GuardrailPolicy\nVERSION:  portcullis.dev/v1alpha1\n');
  expect(policy).toContain('GuardrailPolicy is a named set of rules');
  expect(policy).toContain('  spec <Object> -required-\n');
  const mode = (await run(['explain', 'modelbinding.spec.guardrail.mode'])).stdout;
  expect(mode).toContain('FIELD:    mode <string>\n    enum: Policy, None\n');
  const terms = (await run(['explain', 'policy.spec.definition.request.baseline.stopList.terms'])).stdout;
  expect(terms).toMatch(/FIELD: {4}terms <\[\]string>\n {4}minItems/);
  expect((await run(['explain', 'policy.spec', '--recursive'])).stdout).toContain(
    '      baseline <[]Object> -required-\n',
  );
  expect(await run(['explain', 'policy.spec.definiton'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('GuardrailPolicy.spec has no field "definiton"'),
  });
  const asJson = JSON.parse((await run(['explain', 'modelbinding.spec.guardrail.mode', '-o', 'json'])).stdout);
  expect(asJson).toMatchObject({
    kind: 'ModelBinding',
    path: ['spec', 'guardrail', 'mode'],
    schema: { type: 'string' },
  });
  expect((await run(['explain', 'policy.spec.definiton'])).stderr).toContain('Did you mean definition?');
});

test('portcullis reapply --wait writes no progress where standard error is not a terminal', async () => {
  const applied = await run(['reapply', 'guarded-echo', '--wait']);
  expect(applied).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('is applied') });
});
