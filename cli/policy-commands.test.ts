import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkout } from './platform/data-directory.ts';
import { denyRule, patternRule, policyManifest } from './testing/policy-text.ts';
import { folderWithFiles, runCli, runInProcess } from './testing/run-cli.ts';

const example = join(checkout, 'examples/guarded-chat/policy.yaml');
const profile = 'gateway-1.5.0-chat-webhook-v2';

describe('test -f', () => {
  test('portcullis test -f passes for the example', async () => {
    const { code, stdout } = await runCli(['test', '-f', example]);
    expect(stdout).toContain('11 of 11 tests passed');
    expect(stdout).toContain('passed  a card number is masked: Mask by card-number');
    expect(code).toBe(0);
  });

  test('portcullis test -f shows for a failing test the expected decision and the deciding rule', async () => {
    using folder = folderWithFiles();
    const tests = `
    - { name: good, stage: request, messages: [{ role: user, content: hello }], expect: Pass }
    - { name: bad, stage: request, messages: [{ role: user, content: a Forbidden word }], expect: Pass }`;
    const file = folder.write('p.yaml', policyManifest({ tests }));
    const end = await runInProcess(['test', '-f', file, '--json']);
    expect(end.code).toBe(5);
    expect(JSON.parse(end.stdout).tests).toMatchObject([
      { test: 'good', passed: true },
      { test: 'bad', expect: 'Pass', decision: 'Reject', rules: ['term'], passed: false },
    ]);
    expect((await runInProcess(['test', '-f', file])).stdout).toContain(
      'FAILED  bad: expected Pass, got Reject by term',
    );
  });

  test('portcullis test runs the tests of every -f, of folders and of standard input, in one result', async () => {
    using folder = folderWithFiles();
    const tests = (expected: string) =>
      `\n    - { name: says-word, stage: request, messages: [{ role: user, content: hello }], expect: ${expected} }`;
    const failing = policyManifest({ name: 'first', tests: tests('Reject') });
    const first = folder.write('a.yaml', failing);
    const second = folder.write('b.yaml', policyManifest({ name: 'second', tests: tests('Pass') }));
    const both = await runInProcess(['test', '-f', first, '-f', second]);
    expect(both).toMatchObject({ code: 5, stdout: expect.stringContaining('\n1 of 2 tests passed\n') });
    expect(both.stdout).toMatch(
      /^FAILED {2}first\/says-word: expected Reject, got Pass\npassed {2}second\/says-word: Pass\n/,
    );
    expect(both.stderr).toContain(`${first}, ${second}: 1 of 2 tests failed: policy first, spec.tests[0] (says-word)`);
    const whole = await runInProcess(['test', '-f', folder.path, '--json']);
    expect([whole.code, JSON.parse(whole.stdout).tests]).toMatchObject([
      5,
      [
        { policy: 'first', passed: false },
        { policy: 'second', passed: true },
      ],
    ]);
    const piped = await runInProcess(['test', '-f', second, '-f', '-'], { input: failing });
    expect([piped.code, piped.stderr]).toEqual([5, expect.stringContaining(`${second}, standard input: 1 of 2`)]);
    const passing = await runInProcess(['test', '-f', second]);
    expect(passing).toMatchObject({ code: 0, stdout: expect.stringContaining('1 of 1 tests passed') });
    expect(await runInProcess(['test', '-f', join(checkout, 'examples/guarded-chat')])).toMatchObject({ code: 0 });
  });

  test('a refused policy does not hide the results of another policy, in both orders and as JSON', async () => {
    using folder = folderWithFiles();
    const tests = `
    - { name: says-word, stage: request, messages: [{ role: user, content: hello }], expect: Reject }`;
    const failing = folder.write('a.yaml', policyManifest({ name: 'first', tests }));
    const refused = folder.write('b.yaml', policyManifest({ name: 'second', request: patternRule('back', '(a)\\1') }));
    for (const files of [
      [failing, refused],
      [refused, failing],
    ]) {
      const words = ['test', ...files.flatMap((file) => ['-f', file])];
      const end = await runInProcess(words);
      expect(end.code).toBe(9);
      expect(end.stdout).toMatch(/^FAILED {2}first\/says-word: expected Reject, got Pass\n/);
      expect(end.stdout).toMatch(/\n0 of 1 tests passed\n$/);
      expect(end.stderr).toMatch(
        /^portcullis: \S+b\.yaml: policy second, request section, rule back: .+ \(bundle_invalid\)\n/,
      );
      expect(end.stderr).toContain(`\n${files.join(', ')}: 1 of 1 tests failed: policy first, spec.tests[0]`);
      const asJson = await runInProcess([...words, '-o', 'json']);
      expect([asJson.code, JSON.parse(asJson.stdout).tests]).toMatchObject([9, [{ policy: 'first', passed: false }]]);
    }
    const both = await runInProcess(['test', '-f', refused, '-f', refused]);
    expect(both).toMatchObject({ code: 9, stdout: '' });
    const passing = folder.write('c.yaml', policyManifest({ name: 'third' }));
    const beside = await runInProcess(['test', '-f', passing, '-f', refused]);
    expect(beside).toMatchObject({ code: 9, stdout: expect.stringMatching(/^0 of 0 tests passed\n$/m) });
    expect(beside.stderr).not.toContain('failed');
  });

  test('portcullis test refuses a path without a policy, even beside a path with a policy, and an absent path', async () => {
    using folder = folderWithFiles();
    const binding = readFileSync(join(checkout, 'examples/guarded-chat/binding.yaml'), 'utf8');
    const without = folder.write('binding.yaml', binding);
    const none = await runInProcess(['test', '-f', example, '-f', without]);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain(`${without} contains no GuardrailPolicy`);
    expect(await runInProcess(['test', '-f', example, '-f', '/no/such'])).toMatchObject({ code: 3, stdout: '' });
    const twice = await runInProcess(['test', '-f', '-', '-f', '-'], { input: policyManifest({}) });
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('Standard input can be read only once') });
  });

  test('check and bundle build accept one --policy, including standard input, and refuse a second --policy', async () => {
    using folder = folderWithFiles();
    const strict = policyManifest({ request: denyRule('word', 'forbidden') });
    const file = folder.write('strict.yaml', strict);
    const other = folder.write('other.yaml', policyManifest({ name: 'other' }));
    const text = 'a forbidden word';
    expect((await runInProcess(['check', '--policy', file, text])).code).toBe(6);
    expect((await runInProcess(['check', '--policy', '-', text], { input: strict })).code).toBe(6);
    const unclear = await runInProcess(['check', '--policy', '-'], { input: strict });
    expect(unclear).toMatchObject({ code: 2, stderr: expect.stringContaining('give the text as an argument') });
    const out = join(folder.path, 'bundle.json');
    for (const words of [
      ['check', text],
      ['bundle', 'build', '--profile', profile, '--out', out],
    ]) {
      const refused = await runInProcess([...words, '--policy', file, '--policy', other]);
      expect([words[0], refused]).toMatchObject([
        words[0],
        { code: 2, stdout: '', stderr: expect.stringContaining('give it once') },
      ]);
    }
    expect(existsSync(out)).toBe(false);
  });

  test('portcullis test -f names a refused rule and the reason', async () => {
    using folder = folderWithFiles();
    const costly = folder.write(
      'costly.yaml',
      policyManifest({ request: patternRule('heavy', '(a|b).{0,1000}(c|d)') }),
    );
    const end = await runInProcess(['test', '-f', costly]);
    expect(end.code).toBe(9);
    expect(end.stderr).toMatch(
      /^portcullis: \S+costly\.yaml: policy small, request section, rule heavy: .+ on 32768 bytes .+: write it narrower, .+ \(rule_too_costly\)\n$/,
    );
    const wrong = folder.write('wrong.yaml', policyManifest({ request: patternRule('back', '(a)\\1') }));
    const refused = await runInProcess(['test', '-f', wrong]);
    expect(refused.code).toBe(9);
    expect(refused.stderr).toMatch(/wrong\.yaml: policy small, request section, rule back: .+ \(bundle_invalid\)\n$/);
  });
});

describe('invalid files', () => {
  test.each([
    ['not YAML', 'kind: [GuardrailPolicy', /p\.yaml: document 1, line \d+, column \d+: /],
    [
      'two equal keys',
      'kind: GuardrailPolicy\nkind: ModelBinding\n',
      /p\.yaml: document 1, line 2, column 1: .*key already/i,
    ],
    ['an unknown kind', 'apiVersion: v1\nkind: Pod\n', /p\.yaml: document 1, line 2, column 1: kind must be one of/],
    ['no document', '# empty\n', /p\.yaml: there is no resource/],
    [
      'an unknown field',
      `${policyManifest({})}  colour: red\n`,
      /p\.yaml: document 1, line \d+, column \d+: spec\.colour is an unknown field/,
    ],
    [
      'a name in capitals',
      policyManifest({ name: 'Small' }),
      /p\.yaml: document 1, line 3, column \d+: metadata\.name must be a DNS name/,
    ],
    [
      'a rule of the wrong kind',
      policyManifest({ request: denyRule('a', 'b').replace('stop_list', 'regex') }),
      /spec\.definition\.request\.baseline\[0\]\.\w+ /,
    ],
    [
      'two documents with one name',
      `${policyManifest({})}---\n${policyManifest({})}`,
      /document 2, line \d+, column \d+: metadata\.name is also the name/,
    ],
  ])('a policy file with %s is refused with its place', async (_, content, sentence) => {
    using folder = folderWithFiles();
    const end = await runInProcess(['test', '-f', folder.write('p.yaml', content)]);
    expect(end.stderr).toMatch(sentence);
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('a missing file, and a file without a policy or with two policies, are refused', async () => {
    using folder = folderWithFiles();
    const binding = readFileSync(join(checkout, 'examples/guarded-chat/binding.yaml'), 'utf8');
    const none = await runInProcess(['test', '-f', folder.write('b.yaml', binding)]);
    expect(none.stderr).toContain('contains no GuardrailPolicy');
    const two = folder.write('two.yaml', `${policyManifest({})}---\n${policyManifest({ name: 'other' })}`);
    expect((await runInProcess(['check', '--policy', two, 'x'])).stderr).toContain('contains 2 policies');
    expect((await runInProcess(['check', '--policy', '/no/such', 'x'])).code).toBe(3);
  });
});

describe('check', () => {
  test('portcullis check decides about one text without a server: pass, mask and deny', async () => {
    const judge = (text: string, ...more: string[]) => runInProcess(['check', '--policy', example, text, ...more]);
    expect(await judge('good morning')).toMatchObject({ code: 0, stdout: 'Pass\n', stderr: '' });
    const masked = await judge('write to ivan@example.com');
    expect(masked).toMatchObject({ code: 0, stdout: 'Mask (rule email-address)\nwrite to [email]\n' });
    const denied = await judge('how to MAKE A BOMB', '--json');
    expect(denied.code).toBe(6);
    expect(JSON.parse(denied.stdout)).toMatchObject({ decision: 'Reject', rules: ['forbidden-subjects'] });
    expect(denied.stderr).not.toContain('BOMB');
    expect((await judge('project aurora', '--stage', 'response')).code).toBe(6);
    expect((await judge('project aurora')).code).toBe(0);
  });

  test('portcullis check writes its result as YAML and by a template', async () => {
    const judged = (...more: string[]) => runInProcess(['check', '--policy', example, 'good morning', ...more]);
    expect((await judged('-o', 'jsonpath={.decision}{"\\n"}')).stdout).toBe('Pass\n');
    expect((await judged('-o', 'yaml')).stdout).toContain('decision: Pass\n');
  });

  test('portcullis check reads the text from standard input', async () => {
    const end = await runCli(['check', '--policy', example], { input: 'сделать бомбу\n' });
    expect(end.code).toBe(6);
  });
});

describe('bundle build', () => {
  const build = (file: string, out: string, ...more: string[]) =>
    runInProcess(['bundle', 'build', '--policy', file, '--profile', profile, '--out', out, ...more]);

  test('portcullis bundle build writes canonical bytes and prints only the digest, which is always the same', async () => {
    using folder = folderWithFiles();
    const [one, two] = [join(folder.path, '1.json'), join(folder.path, '2.json')];
    const first = await build(example, one);
    expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/) });
    expect((await build(example, two)).stdout).toBe(first.stdout);
    expect(readFileSync(one)).toEqual(readFileSync(two));
    const bundle = JSON.parse(readFileSync(one, 'utf8'));
    expect(bundle).toMatchObject({
      contentProfile: profile,
      limits: { maxBodyBytes: 32_768, queueSize: 0 },
      providers: [],
    });
    expect(bundle.policies).toMatchObject([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), revision: '1' }]);
    const { stdout } = await build(example, one, '--json');
    expect(JSON.parse(stdout)).toEqual({ digest: first.stdout.trim(), bytes: statSync(one).size, file: one });
  });

  test('portcullis bundle build uses the id of the label or of the option, and the given limits and providers', async () => {
    using folder = folderWithFiles();
    const out = join(folder.path, 'b.json');
    const read = () => JSON.parse(readFileSync(out, 'utf8'));
    const detector =
      '{ id: d, kind: external_pipeline, timeoutMs: 100, action: { type: deny }, externalPipeline: { provider: pii, contract: platform.guardrail-runtime.detector/v1 } }';
    const labelled = policyManifest({
      labels: '{ portcullis.dev/id: p-77 }',
      request: detector,
      providers: '[{ name: pii, credentialRef: { name: pii-key } }]',
    });
    const file = folder.write('p.yaml', labelled);
    const limits = folder.write('limits.yaml', 'maxBodyBytes: 4096\n');
    const entry = '{ name: pii, kind: detector, endpoint: "http://127.0.0.1:1/d", credential: pii-key }';
    const providers = folder.write('providers.yaml', `providers: [${entry}]\n`);
    expect((await build(file, out)).stderr).toContain(
      'whether the provider pii is approved is not known: name the file of the approved providers with --providers',
    );
    expect((await build(file, out, '--limits', limits, '--providers', providers)).code).toBe(0);
    expect(read()).toMatchObject({
      limits: { maxBodyBytes: 4_096, maxMessages: 64 },
      policies: [{ id: 'p-77', revision: '1' }],
      providers: [{ name: 'pii', endpoint: 'http://127.0.0.1:1/d', credential: 'pii-key' }],
    });
    await build(file, out, '--providers', providers, '--policy-id', 'mine', '--revision', '12');
    expect(read().policies).toMatchObject([{ id: 'mine', revision: '12' }]);
    const wrong = folder.write('wrong.yaml', 'maxBodyBytes: 255\n');
    const end = await build(file, out, '--limits', wrong);
    expect(end).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('wrong.yaml: line 1, column 1: maxBodyBytes '),
    });
  });

  test('portcullis bundle build accepts a bundle of the largest size; one byte more is refused and nothing is written', async () => {
    using folder = folderWithFiles();
    const text = (length: number) => policyManifest({ request: denyRule('big', termsOf(length)) });
    const out = join(folder.path, 'b.json');
    const base = 20_000;
    const { stdout } = await build(folder.write('p.yaml', text(base)), out, '--json');
    const room = 716_800 - JSON.parse(stdout).bytes;
    const exact = await build(folder.write('exact.yaml', text(base + room)), out, '--json');
    expect(JSON.parse(exact.stdout || exact.stderr)).toMatchObject({ bytes: 716_800 });
    const over = join(folder.path, 'over.json');
    const refused = await build(folder.write('over.yaml', text(base + room + 1)), over);
    expect(refused.code).toBe(9);
    expect(refused.stderr).toContain(
      'the bundle has 716801 bytes; at most 716800 are allowed: remove rules, or split the policy',
    );
    expect(statSync(over, { throwIfNoEntry: false })).toBeUndefined();
  });

  test('portcullis bundle build fails without a profile, with an unknown profile, and for a missing folder', async () => {
    using folder = folderWithFiles();
    const noProfile = await runInProcess(['bundle', 'build', '--policy', example, '--out', join(folder.path, 'b')]);
    expect(noProfile).toMatchObject({ code: 2, stderr: expect.stringContaining('--profile') });
    const unknown = await runInProcess(['bundle', 'build', '--policy', example, '--profile', 'x', '--out', 'b']);
    expect(unknown.code).toBe(2);
    expect((await build(example, join(folder.path, 'no/b.json'))).code).toBe(1);
  });
});

/**
 * Terms of the request rule whose list has exactly this many bytes: each term has 900 bytes, and the last term has the
 * remaining bytes.
 */
function termsOf(length: number): string {
  const terms: string[] = [];
  let left = length;
  while (left > 1_000) {
    terms.push(String(terms.length).padStart(900, 'x'));
    left -= 903;
  }
  terms.push('y'.repeat(left));
  return terms.join(', ');
}
