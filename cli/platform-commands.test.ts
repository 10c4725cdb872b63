import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { type Platform, startPlatform } from '../e2e/support/start-platform.ts';
import { verifies } from '../e2e/support/verifies.ts';
import { bindingManifest, patternRule, policyManifest } from './testing/policy-text.ts';
import { folderWithFiles, runCli, runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' } });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
const json = async (...args: readonly string[]) => JSON.parse((await run([...args, '--json'])).stdout);
const apply = (text: string, ...more: readonly string[]) => run(['apply', '-f', '-', ...more], text);

describe('status and env', () => {
  test('portcullis status and env show the addresses of the platform', async () => {
    const status = await json('status');
    expect(status).toMatchObject({ ready: true, dataDirectory: platform.data, clientKeyFile: expect.any(String) });
    expect(status.addresses.gateway).toBe(platform.status().addresses.gateway);
    const { stdout } = await run(['status']);
    expect(stdout).toContain('Ready:             yes');
    expect(stdout).toMatch(/\nOperator: operator is ready\.\n\nREPLICA +GATEWAY +READY /);
    expect(stdout).toMatch(/\nguarded-echo +guarded-echo +guarded-chat +1 +applied +1 +-\n/);
    expect(status.installation.bindings).toMatchObject([{ name: 'guarded-echo', state: 'applied', serves: '1' }]);
    const env = await run(['env']);
    expect(env.stdout).toBe(
      `export OPENAI_BASE_URL='${status.addresses.gateway}/v1'\nexport OPENAI_API_KEY='${platform.key}'\n`,
    );
    expect(env.stderr).toBe('');
  });

  test.each([
    ['sk-of-another-service', /^portcullis: warning: OPENAI_API_KEY already has another value/],
    ['', /^$/],
  ])('portcullis env warns before it replaces OPENAI_API_KEY=%j', async (key, warning) => {
    const env = await runInProcess(['env'], { data: platform.data, environment: { OPENAI_API_KEY: key } });
    expect(env.stdout).toContain(`export OPENAI_API_KEY='${platform.key}'`);
    expect(env.stderr).toMatch(warning);
    expect(env.stderr).not.toContain('sk-of');
  });

  test('portcullis env names a missing client key file, and exits with not_found', async () => {
    const file = join(platform.data, 'tokens/client.keys');
    renameSync(file, `${file}.away`);
    try {
      const env = await run(['env']);
      expect(env).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringContaining(`portcullis: There is no file ${file}`),
      });
    } finally {
      renameSync(`${file}.away`, file);
    }
  });
});

test('portcullis up and status name an invalid file of the watched folder until it is corrected', async () => {
  const file = join(platform.data, 'apply/broken.yaml');
  writeFileSync(file, 'apiVersion: portcullis.dev/v1alpha1\nkind: ModelBindin\n');
  const sentence = await until('the problem is reported', async () => (await json('status')).notApplied[0]);
  expect(sentence).toContain(
    'apply/broken.yaml: document 1, line 2, column 1: kind must be one of GuardrailPolicy, ModelBinding',
  );
  expect(await run(['status'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Not applied:') });
  const checked = await run(['status', '--check']);
  expect(checked).toMatchObject({ code: 1, stdout: expect.stringContaining('Not applied:') });
  expect(checked.stderr).toMatch(/^portcullis: The status has .*Folder apply.*\.\n$/);
  await until('up prints it', () => platform.output().includes(`not applied: ${sentence}`));
  rmSync(file);
  await until('the problem is no longer reported', async () => (await json('status')).notApplied.length === 0);
  expect(await run(['status', '--check'])).toMatchObject({ code: 0, stderr: '' });
});

describe('chat', () => {
  const chat = (message: string, ...more: string[]) =>
    runCli(['chat', 'guarded-echo', '--message', message, ...more], { data: platform.data });

  test('portcullis chat prints the answer, streamed or complete, to a message from an option or standard input', async () => {
    expect(await chat('Hello, мир')).toEqual({ code: 0, stdout: 'Hello, мир\n', stderr: '' });
    expect(await chat('Hello', '--no-stream')).toEqual({ code: 0, stdout: 'Hello\n', stderr: '' });
    expect(await run(['chat', 'guarded-echo'], 'from a pipe\n')).toMatchObject({ code: 0, stdout: 'from a pipe\n' });
    expect((await chat('mail ivan@example.com')).stdout).toBe('mail [email]\n');
    expect(JSON.parse((await chat('x', '--json')).stdout)).toEqual({ complete: true, text: 'x' });
  });

  verifies(
    ['gateway:client:parses-error-events', 'gateway:client:marks-incomplete', 'gateway:client:no-success-from-partial'],
    'portcullis chat exits with 6 and marks its output as incomplete when the policy stops the answer',
    async () => {
      const denied = await chat('how to make a bomb');
      expect(denied).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('guardrail_blocked') });
      const long = Array.from({ length: 400 }, (_, at) => at + 1).join(' ');
      const stopped = await chat(`${long} project Aurora`);
      expect(stopped.code).toBe(6);
      expect(stopped.stdout).toMatch(/^1 2 3 4 5 /);
      expect(stopped.stdout).not.toContain('project');
      expect(stopped.stderr).toContain('The answer above is incomplete. guardrail_blocked');
      const asJson = await chat(`${long} project Aurora`, '--json');
      expect(JSON.parse(asJson.stdout)).toMatchObject({ complete: false, fault: { kind: 'guardrail_blocked' } });
      expect(asJson.code).toBe(6);
    },
  );

  test('portcullis chat exits with 7 for a text that is longer than one check, and names its size, the limit and the remedy', async () => {
    const { code, stderr } = await run(['chat', 'guarded-echo'], 'word '.repeat(8_000));
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /guardrail_error: The text has 40\d\d\d bytes of JSON, and at most 32768 are checked at once.*: send a shorter text/,
    );
  });

  test('portcullis chat names a model that does not exist', async () => {
    expect(await run(['chat', 'nobody', '--message', 'x'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no model nobody'),
    });
  });
});

describe('get and describe', () => {
  test('portcullis get shows resources as a table, wide, as YAML and as JSON, by every name of a kind', async () => {
    const table = await run(['get', 'ModelBinding']);
    expect(table.stdout).toMatch(
      /^NAME +ALIAS +POLICY +REVISION +SERVES +APPLIED +READY +REACHABLE +AGE\nguarded-echo +guarded-echo /,
    );
    expect((await run(['get', 'mb', '-o', 'wide'])).stdout).toMatch(/READY +REACHABLE +DIGEST/);
    const one = await json('get', 'modelbindings', 'guarded-echo');
    expect(one).toMatchObject({ kind: 'ModelBinding', metadata: { name: 'guarded-echo' } });
    expect(parse((await run(['get', 'mb', 'guarded-echo', '-o', 'yaml'])).stdout)).toEqual(one);
    expect((await json('get', 'gp')).items).toHaveLength(1);
    for (const kind of ['gprev', 'rwl', 'gwr', 'gwrep']) expect((await json('get', kind)).items.length).toBe(1);
  });

  test('portcullis describe shows conditions and names a resource that does not exist', async () => {
    const { stdout } = await run(['describe', 'mb', 'guarded-echo']);
    expect(stdout).toContain('Every ready gateway replica confirmed revision 1 of the policy guarded-chat.');
    expect(await run(['describe', 'mb', 'nobody'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no ModelBinding named nobody in the namespace default.'),
    });
    expect(await run(['get', 'mb', 'Capitals'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"Capitals" is not a valid name: it must be a DNS name in lower case'),
    });
  });
});

describe('apply', () => {
  test('portcullis apply creates, changes or keeps resources; a binding without a revision gets the newest one', async () => {
    const first = await apply(
      `${bindingManifest('filled', 'filling', undefined)}---\n${policyManifest({ name: 'filling' })}`,
      '--wait',
    );
    expect(first.stdout.split('\n')).toEqual([
      'GuardrailPolicy filling created',
      'ModelBinding filled created',
      'ModelBinding filled is applied',
      '',
    ]);
    const same = await apply(
      `${policyManifest({ name: 'filling' })}---\n${bindingManifest('filled', 'filling', undefined)}`,
    );
    expect(same.stdout).toBe('GuardrailPolicy filling unchanged\nModelBinding filled unchanged\n');
    const edited = policyManifest({ name: 'filling', request: patternRule('digits', '[0-9]{4}') });
    const configured = await runCli(['apply', '-f', '-'], { data: platform.data, input: edited });
    expect(configured).toEqual({ code: 0, stdout: 'GuardrailPolicy filling configured\n', stderr: '' });
    const newest = await apply(bindingManifest('filled', 'filling', undefined), '--wait');
    expect(newest.code).toBe(0);
    expect((await json('get', 'mb', 'filled')).spec.guardrail.policyRef).toEqual({ name: 'filling', revision: 2 });
  });

  test('portcullis apply warns of refused and doubtful rules immediately, --wait ends with the refusal, and why and describe show it', async () => {
    const broken = policyManifest({ name: 'doubtful', request: patternRule('culprit', '(?=a)') });
    const stored = await apply(broken);
    expect(stored).toMatchObject({ code: 0, stdout: 'GuardrailPolicy doubtful created\n' });
    expect(stored.stderr).toMatch(/warning: .*policy doubtful, request section, rule culprit: .*\(bundle_invalid\)/);
    expect(stored.stderr).toContain('It is stored, and it is refused when it is applied to a model');
    const waited = await apply(broken, '--wait');
    expect(waited).toMatchObject({ code: 9 });
    expect(waited.stderr).toContain(
      'The GuardrailPolicy doubtful is refused (BundleInvalid): request section, rule culprit',
    );
    const anchored = await apply(
      policyManifest({ name: 'doubtful', response: patternRule('culprit', '^begins') }),
      '--wait',
    );
    expect(anchored).toMatchObject({ code: 0, stdout: 'GuardrailPolicy doubtful configured\n' });
    expect(anchored.stderr).toContain('warning: policy doubtful, response section, rule culprit: it is anchored');
    const { stdout } = await run(['describe', 'gp', 'doubtful']);
    expect(stdout).toMatch(/Warnings +True +RulesHaveWarnings +response section, rule culprit: it is anchored/);
    await apply(bindingManifest('doubts', 'doubtful', undefined), '--wait');
    expect((await run(['why', 'doubts'])).stdout).toMatch(/- +Policy doubtful +RulesHaveWarnings +.*it is anchored/);
  });

  test('portcullis apply reads a folder with YAML and JSON files', async () => {
    using folder = folderWithFiles();
    folder.write('a.yaml', policyManifest({ name: 'from-folder' }));
    folder.write('b.json', JSON.stringify(parse(policyManifest({ name: 'from-json' }))));
    folder.write('readme.txt', 'not a manifest');
    const end = await run(['apply', '-f', folder.path]);
    expect(end.stdout).toBe('GuardrailPolicy from-folder created\nGuardrailPolicy from-json created\n');
    folder.write('c.yaml', policyManifest({ name: 'from-json' }));
    const twice = await run(['apply', '-f', folder.path]);
    expect(twice).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('c.yaml: document 1, line 3, column 13: metadata.name'),
    });
  });

  test('portcullis apply writes nothing if any document is invalid, and names each place', async () => {
    const good = policyManifest({ name: 'never-there' });
    const broken = [
      [`${good}---\nkind: [`, /standard input: document 2, line \d+, column \d+: /],
      [
        `${good}---\n${policyManifest({ name: 'Upper' })}`,
        /standard input: document 2, line \d+, column \d+: metadata\.name must be/,
      ],
      [`${good}---\napiVersion: v1\nkind: Pod\n`, /document 2, line \d+, column \d+: kind must be one of/],
      [
        `${good}---\n${policyManifest({ name: 'x' })}  wrong: 1\n`,
        /document 2, line \d+, column \d+: spec\.wrong is an unknown field/,
      ],
      [
        `${good}---\n${good.replace('name: never-there', 'name: a, namespace: other')}`,
        /document 2, line \d+, column \d+: metadata\.namespace/,
      ],
    ] as const;
    for (const [text, sentence] of broken) {
      const end = await apply(text);
      expect(end.stderr).toMatch(sentence);
      expect({ code: end.code, stdout: end.stdout }).toEqual({ code: 2, stdout: '' });
    }
    expect((await run(['get', 'gp', 'never-there'])).code).toBe(3);
  });

  test('a binding loses its guardrail only after a confirmation', async () => {
    await apply(bindingManifest('shielded', 'guarded-chat', 1), '--wait');
    const binding = parse(bindingManifest('shielded', 'guarded-chat', 1));
    binding.spec.guardrail = { mode: 'None' };
    const refused = await apply(`${policyManifest({ name: 'not-written' })}---\n${stringify(binding)}`);
    expect(refused).toMatchObject({ code: 13, stdout: '' });
    expect(refused.stderr).toContain('ModelBinding shielded would become UNGUARDED');
    expect((await run(['get', 'gp', 'not-written'])).code).toBe(3);
    expect((await json('get', 'mb', 'shielded')).spec.guardrail.mode).toBe('Policy');
    expect((await apply(stringify(binding), '--yes', '--wait')).code).toBe(0);
    expect((await run(['get', 'mb', 'shielded'])).stdout).toMatch(/ shielded +UNGUARDED +- +UNGUARDED +True /);
    expect((await apply(stringify(binding))).code).toBe(0);
  });

  test('portcullis apply --wait reports why a binding was not applied', async () => {
    const costly = policyManifest({ name: 'costly', request: patternRule('heavy', '(a|b).{0,1000}(c|d)') });
    const end = await apply(`${costly}---\n${bindingManifest('refused', 'costly', 1)}`, '--wait');
    expect(end.code).toBe(9);
    expect(end.stderr).toContain('The ModelBinding refused was not applied (rule_too_costly)');
    expect(end.stderr).toContain('heavy');
    const missing = await apply(bindingManifest('lost', 'no-such-policy', undefined));
    expect(missing).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('There is no GuardrailPolicy named no-such'),
    });
  });
});

describe('revisions', () => {
  test('why and status name who applied the served revision, and why', async () => {
    await apply(`${policyManifest({ name: 'noted' })}---\n${bindingManifest('noted', 'noted', 1)}`, '--wait');
    expect((await run(['reapply', 'noted', '--wait', '--message', 'after the review'])).code).toBe(0);
    expect((await run(['why', 'noted'])).stdout).toMatch(
      /\nServed now: .*\nApplied by: .+ \(command line\): after the review\n/,
    );
    expect((await json('why', 'noted')).appliedBy).toMatchObject({ message: 'after the review' });
    const wide = (await run(['status', '-o', 'wide'])).stdout;
    expect(wide).toMatch(/ APPLIED BY +WHY\n/);
    expect(wide).toMatch(/\nnoted .* \(command line\): after the review /);
  });

  test('an edited policy has no effect until it is applied; a rollback applies the previous revision', async () => {
    await apply(`${policyManifest({ name: 'steps' })}---\n${bindingManifest('stepping', 'steps', 1)}`, '--wait');
    const ask = async () => (await run(['chat', 'stepping', '--message', 'year 2024'])).code;
    await apply(policyManifest({ name: 'steps', request: patternRule('digits', '[0-9]{4}') }));
    const recorded = await until('revision 2 is recorded', async () => {
      const rows = await json('history', 'steps');
      return rows.length === 2 ? rows : undefined;
    });
    expect(recorded).toMatchObject([
      { revision: 2, guards: [] },
      { revision: 1, guards: ['stepping'] },
    ]);
    expect(await ask()).toBe(0);
    expect((await apply(bindingManifest('stepping', 'steps', 2), '--wait')).code).toBe(0);
    expect(await ask()).toBe(6);
    expect((await run(['history', 'steps'])).stdout).toMatch(/^REVISION .*\n2 .* stepping\n1 .* -\n$/);
    const back = await run(['rollback', 'stepping', '--wait']);
    expect(back.stdout).toBe('ModelBinding stepping set to revision 1\nModelBinding stepping is applied\n');
    expect(await ask()).toBe(0);
    expect((await run(['rollback', 'stepping', '--to-revision', '2', '--wait'])).code).toBe(0);
    expect(await ask()).toBe(6);
    const unknown = await run(['rollback', 'stepping', '--to-revision', '77', '--wait']);
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('The policy steps has no revision 77.') });
    expect(await ask()).toBe(6);
    expect((await run(['history', 'nobody'])).code).toBe(3);
  });

  test('portcullis reapply starts a new application of the same revision', async () => {
    const before = await json('get', 'mb', 'guarded-echo');
    expect((await run(['reapply', 'guarded-echo', '--wait'])).code).toBe(0);
    const after = await json('get', 'mb', 'guarded-echo');
    expect(after.spec.guardrail).toEqual(before.spec.guardrail);
    expect(after.status.pinned.generationId).not.toBe(before.status.pinned.generationId);
  });

  test('portcullis reapply --older-than does not change a binding on that build', async () => {
    const { items } = await json('get', 'rwl');
    const build = items[0].spec.build;
    const before = await json('get', 'mb', 'guarded-echo');
    const none = await run(['reapply', '--older-than', build]);
    expect(none.stdout).toBe(`Every application runs on the build ${build}\n`);
    expect((await json('get', 'mb', 'guarded-echo')).metadata.generation).toBe(before.metadata.generation);
    const all = await run(['reapply', '--older-than', 'another-build', '--wait']);
    expect(all.stdout).toContain('ModelBinding guarded-echo is applied\n');
    const after = await json('get', 'mb', 'guarded-echo');
    expect(after.status.pinned.generationId).not.toBe(before.status.pinned.generationId);
  });

  test('portcullis reapply requires exactly one of a binding, --all and --older-than', async () => {
    expect((await run(['reapply'])).code).toBe(2);
    expect((await run(['reapply', 'guarded-echo', '--older-than', 'x'])).code).toBe(2);
    expect((await run(['reapply', 'guarded-echo', '--all'])).code).toBe(2);
  });

  test('portcullis diff shows the changed lines, and apply-revision applies a revision by number', async () => {
    await apply(`${policyManifest({ name: 'told' })}---\n${bindingManifest('telling', 'told', 1)}`, '--wait');
    expect(await run(['diff', 'told'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('one revision only'),
    });
    await apply(policyManifest({ name: 'told', request: patternRule('digits', '[0-9]{4}') }));
    expect((await run(['apply-revision', 'telling', '--wait'])).stdout).toBe(
      'ModelBinding telling set to revision 2\nModelBinding telling is applied\n',
    );
    const { stdout } = await run(['diff', 'told', '1', '2']);
    expect(stdout).toMatch(/^--- told revision 1\t/);
    expect(stdout).toContain('\n+          pattern: "[0-9]{4}"\n');
    expect(await json('diff', 'told')).toMatchObject({ from: 1, to: 2, isSame: false, diff: stdout });
    const other = await run(['apply-revision', 'telling', '1', '--policy', 'guarded-chat', '--wait']);
    expect(other.stdout).toContain('ModelBinding telling set to revision 1 of guarded-chat\n');
  });

  test('portcullis why shows the cause and a remedy with commands of this CLI', async () => {
    expect((await run(['why', 'guarded-echo'])).stdout).toMatch(/^ModelBinding guarded-echo is applied: every ready/);
    await apply(bindingManifest('too-early', 'guarded-chat', 44));
    const found = await until('the binding has a condition', async () => {
      const one = await json('why', 'too-early');
      return one.cause?.reason === 'PolicyRevisionUnknown' ? one : undefined;
    });
    expect(found.whatToDo).toContain('portcullis apply-revision too-early REVISION');
    expect(found.whatToDo).not.toContain('kubectl');
    const place = ` Commands reach this platform with --data ${platform.data}.`;
    const why = await run(['why', 'too-early', '--data', platform.data]);
    expect(why.stdout).toContain(`What to do: ${found.whatToDo}${place}\n`);
    const status = await run(['status', '--data', platform.data]);
    expect(status.stdout).toContain(`${found.whatToDo}${place}\n`);
    expect((await run(['status'])).stdout).not.toContain('--data');
  });

  test('portcullis why explains several names in their order, and explains no name if one of them does not exist', async () => {
    const names = ['guarded-echo', 'policy/guarded-chat'];
    const texts = [(await run(['why', 'guarded-echo'])).stdout, (await run(['why', 'policy/guarded-chat'])).stdout];
    const both = await run(['why', ...names]);
    expect(both).toEqual({ code: 0, stderr: '', stdout: texts.join('\n') });
    const [first, second] = await json('why', ...names);
    expect([first, second]).toMatchObject([{ state: 'applied' }, { policy: 'guarded-chat' }]);
    expect(await json('why', 'guarded-echo')).toEqual(first);
    const absent = await run(['why', 'guarded-echo', 'guarded-eco']);
    expect(absent).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('Did you mean guarded-echo?'),
    });
    expect(await run(['why'])).toMatchObject({ code: 2, stderr: expect.stringContaining('<binding>') });
    expect((await run(['__complete', 'why', 'policy/guarded-chat', 'guarded-e'])).stdout).toBe('guarded-echo\n:4\n');
  });

  test('portcullis test runs the tests of a policy of the platform', async () => {
    expect((await run(['test', 'guarded-chat'])).stdout).toContain('11 of 11 tests passed');
    expect((await run(['test', 'guarded-chat', '--revision', '77'])).code).toBe(3);
  });
});

test('apply-revision, rollback and reapply refuse a revision whose provider is no longer approved, and write nothing', async () => {
  const file = join(platform.data, 'providers.yaml');
  const before = readFileSync(file, 'utf8');
  const spam = {
    name: 'spam',
    kind: 'detector',
    endpoint: 'http://127.0.0.1:1/',
    enabled: true,
    credential: 'spam-key',
  };
  const asks =
    '{ id: asks, kind: external_pipeline, mode: enforce, timeoutMs: 100, action: { type: deny }, externalPipeline: { provider: spam, contract: platform.guardrail-runtime.detector/v1 } }';
  const providers = '[{ name: spam, credentialRef: { name: spam-key } }]';
  await apply(`${policyManifest({ name: 'asking' })}---\n${bindingManifest('asked', 'asking', 1)}`, '--wait');
  writeFileSync(file, stringify({ providers: [...parse(before).providers, spam] }));
  try {
    await apply(policyManifest({ name: 'asking', providers }).replace('additional: []', `additional: [${asks}]`));
    await until('revision 2 is recorded', async () => (await json('history', 'asking')).length === 2);
  } finally {
    writeFileSync(file, before);
  }
  const { metadata } = await json('get', 'mb', 'asked');
  for (const words of [
    ['apply-revision', 'asked', '2'],
    ['rollback', 'asked', '--to', '2'],
  ]) {
    const refused = await run(words);
    expect(refused).toMatchObject({ code: 9, stdout: '' });
    expect(refused.stderr).toContain(
      'Revision 2 of asking cannot be applied: the provider spam of the policy is not among the approved providers',
    );
  }
  expect((await json('get', 'mb', 'asked')).metadata.generation).toBe(metadata.generation);
  expect((await run(['reapply', 'asked', '--wait'])).code).toBe(0);
  await apply(bindingManifest('asked', 'asking', 2));
  const all = await run(['reapply', '--all', '--dry-run=client', '-o', 'name']);
  expect([all.code, all.stderr]).toEqual([9, expect.stringContaining('Revision 2 of asking cannot be applied')]);
  expect(all.stdout).toContain('modelbinding.portcullis.dev/guarded-echo\n');
  expect(all.stdout).not.toContain('/asked\n');
  expect((await apply(bindingManifest('asked', 'asking', 1), '--wait')).code).toBe(0);
});

describe('delete', () => {
  test('a policy in use is deleted after a confirmation, once nothing refers to it', async () => {
    await apply(`${policyManifest({ name: 'leaving' })}---\n${bindingManifest('going', 'leaving', 1)}`, '--wait');
    const refused = await run(['delete', 'gp', 'leaving']);
    expect(refused).toMatchObject({ code: 13, stdout: '' });
    expect(refused.stderr).toContain('The GuardrailPolicy leaving is used by ModelBinding going.');
    expect((await run(['get', 'gp', 'leaving'])).stdout).toMatch(/ Draft /);
    const held = await run(['delete', 'gp', 'leaving', '--yes']);
    expect(held.stdout).toContain('leaving is being deleted. It is kept while these refer to it: ModelBinding going.');
    const listed = await until('the operator names the binding that holds the deletion', async () => {
      const { stdout } = await run(['get', 'gp', 'leaving']);
      return stdout.includes('binding going') ? stdout : undefined;
    });
    expect(listed).toMatch(/ Deleting /);
    expect((await run(['status'])).stdout).toMatch(/\nPOLICY +STATE +WHY\nleaving +Deleting +.*binding going/);
    const other = await run(['apply-revision', 'guarded-echo', '1', '--policy', 'leaving']);
    expect(other).toMatchObject({ code: 9, stderr: expect.stringContaining('the policy is being deleted') });
    expect((await run(['describe', 'gp', 'leaving'])).stdout).toContain('Deleting since: ');
    expect((await run(['history', 'leaving'])).stdout).toContain('GuardrailPolicy leaving is being deleted: ');
    expect((await run(['why', 'going'])).stdout).toContain('The policy leaving is being deleted.');
    const why = await run(['why', 'policy/leaving']);
    expect(why.stdout).toMatch(/^GuardrailPolicy leaving is being deleted: .*binding going/);
    expect(why.stdout).toContain('\nWhat to do: To keep leaving, apply it again from its file');
    expect((await run(['why', 'modelbinding/going'])).stdout).toContain('The policy leaving is being deleted.');
    const archived = await run(['archive', 'leaving']);
    expect(archived).toMatchObject({ code: 10, stderr: expect.stringContaining('to keep it, apply it again') });
    const deleted = await json('get', 'gp', 'leaving');
    expect((await apply(policyManifest({ name: 'leaving' }))).stdout).toBe('GuardrailPolicy leaving restored\n');
    const kept = await until('the policy exists again', async () => {
      const live = await json('get', 'gp', 'leaving');
      return live.metadata.uid !== deleted.metadata.uid && live.status?.latestRevision !== undefined && live;
    });
    expect(kept.status.latestRevision.number).toBe(1);
    expect((await run(['get', 'gp', 'leaving'])).stdout).toMatch(/ Draft /);
    expect((await run(['reapply', 'going', '--wait'])).code).toBe(0);
    expect((await run(['delete', 'gp', 'leaving', '--yes'])).code).toBe(0);
    const asked = await run(['delete', 'mb', 'going']);
    expect(asked).toMatchObject({ code: 13, stderr: expect.stringContaining('guards the model going') });
    expect((await run(['delete', 'mb', 'going', '--yes'])).code).toBe(0);
    await until('both are gone', async () => {
      const codes = [(await run(['get', 'mb', 'going'])).code, (await run(['get', 'gp', 'leaving'])).code];
      return codes.every((code) => code === 3);
    });
    expect((await run(['chat', 'going', '--message', 'x'])).code).toBe(3);
    expect((await run(['delete', 'mb', 'going'])).code).toBe(3);
  });
});

test('shell completion offers names of existing resources', async () => {
  expect((await run(['__complete', 'why', 'guarded-e'])).stdout).toBe('guarded-echo\n:4\n');
  expect((await run(['__complete', 'get', 'gp', 'guarded'])).stdout).toBe('guarded-chat\n:4\n');
  expect((await run(['__complete', 'chat', 'guarded-e'])).stdout).toBe('guarded-echo\n:4\n');
  expect((await run(['__complete', 'apply-revision', 'guarded-echo', ''])).stdout).toBe('1\n:4\n');
});

test('portcullis commands against a suspended operator end after --request-timeout', async () => {
  const operator = platform.pidOf('operator');
  process.kill(operator, 'SIGSTOP');
  try {
    const commands = [
      ['get', 'gp'],
      ['get', 'gp', 'guarded-chat'],
      ['history', 'guarded-chat'],
      ['reapply', '--all'],
    ];
    const end = (args: readonly string[]) => runCli([...args, '--request-timeout', '1'], { data: platform.data });
    const [status, ...ends] = await Promise.all([end(['status']), ...commands.map(end)]);
    for (const one of ends) {
      expect(one).toMatchObject({
        code: 4,
        stdout: '',
        stderr: expect.stringContaining('The platform does not answer'),
      });
    }
    expect(status.code).toBe(0);
    expect(status.stdout).toContain('Processes:');
    expect(status.stdout).toContain('The platform does not answer');
  } finally {
    process.kill(operator, 'SIGCONT');
  }
});
