import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { startFaultyProxy } from '#kit/testing/faulty-proxy';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { type Platform, startCommand, startPlatform } from '../e2e/support/start-platform.ts';
import { createManagementClient, type ManagementClient } from './management/client.ts';
import {
  ManagementAnswerError,
  ManagementApiError,
  ManagementUnreachableError,
} from './management/management-error.ts';
import { definitionOfWord, manifestOfWord, patternRule, policyManifest } from './testing/policy-text.ts';
import { descendantsOf, isProcessRunning } from './testing/process-tree.ts';
import { folderWithFiles, runCli, runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ management: true, environment: { PORTCULLIS_ADMINISTRATORS: 'root-admin' } });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await run([...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

const overApi = ['--via', 'api'];

/** Creates a policy over the management API. @returns the names of its resource */
async function createPolicy(name: string): Promise<string> {
  const { code, stdout, stderr } = await run(['apply', '-f', '-', '--json', ...overApi], manifestOfWord(name, name));
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout)[0].object.metadata.name;
}

async function clientOf(origin?: string, timeoutMs = 10_000): Promise<ManagementClient> {
  const token = (await run(['token'])).stdout.trim();
  const at = origin ?? platform.status().addresses.management ?? '';
  return createManagementClient({ origin: at, token: async () => token, timeoutMs });
}

describe('token', () => {
  test('portcullis token signs for the first administrator with a lifetime of one hour by default', async () => {
    const claims = decodeJwt((await run(['token'])).stdout.trim());
    expect(claims).toMatchObject({ sub: 'root-admin', aud: 'portcullis', iss: 'http://issuer.portcullis.localhost' });
    expect(Number(claims.exp) - Number(claims.iat)).toBe(3_600);
    const other = await run(['token', '--subject', 'ann', '--audience', 'agents', '--ttl', '1']);
    const claimed = decodeJwt(other.stdout.trim());
    expect(claimed).toMatchObject({ sub: 'ann', aud: 'agents' });
    expect(Number(claimed.exp) - Number(claimed.iat)).toBe(1);
  });

  test.each([
    ['--ttl', '0'],
    ['--ttl', '2592001'],
    ['--ttl', '1.5'],
    ['--subject', ''],
    ['--audience', 'a'.repeat(256)],
  ])('portcullis token refuses %s %s', async (option, value) => {
    expect(await run(['token', option, value])).toMatchObject({ code: 2, stdout: '' });
  });

  test('portcullis token accepts the longest lifetime and name', async () => {
    const { code, stdout } = await run(['token', '--ttl', '2592000', '--subject', 'a'.repeat(255)]);
    expect(code).toBe(0);
    expect(decodeJwt(stdout.trim()).sub).toHaveLength(255);
  });
});

describe('the console', () => {
  const started = () => platform.status().processes.filter(({ name }) => name === 'console' || name === 'signin');

  test('the console starts at its first visit, and the platform stays ready', async () => {
    const { console: address = '' } = platform.status().addresses;
    expect((await run(['status'])).stdout).toContain(`Console:           ${address}\n`);
    expect(started()).toEqual([]);
    const unready: boolean[] = [];
    const watch = setInterval(() => unready.push(!platform.status().ready), 20);
    const answers = await Promise.all([1, 2, 3].map(() => fetch(address, { redirect: 'manual' })));
    clearInterval(watch);
    expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual(
      answers.map(() => [303, '/sign-in?return_to=%2F']),
    );
    expect(unready).not.toContain(true);
    expect(started().every(({ answering }) => answering)).toBe(true);
    expect(started()).toHaveLength(2);
    const { code } = await json('console');
    await until('the terminal has the code', () => platform.output().includes(`the sign-in code is ${code}`));
  });
});

describe('a rotation of the key', () => {
  const keysNow = async (): Promise<readonly string[]> => {
    const answer = await fetch(new URL('/jwks.json', platform.status().addresses.issuer));
    return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  };
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  const policies = async (token: string): Promise<number> => {
    const url = new URL('/api/v1/guardrail-policies', platform.status().addresses.management);
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
  };

  test('a key rotation publishes both keys, and existing tokens stay valid', async () => {
    const before = (await run(['token'])).stdout.trim();
    const rotated = await json('token', 'rotate');
    expect(rotated).toMatchObject({ published: 2, revoked: false });
    expect(await keysNow()).toEqual([rotated.kid, kidOf(before)]);
    expect(Date.parse(rotated.signsFrom)).toBeGreaterThan(Date.now());
    const after = (await run(['token'])).stdout.trim();
    expect(kidOf(after)).toBe(kidOf(before));
    for (const token of [before, after]) expect(await policies(token)).toBe(200);
  });

  test('a key rotation with --revoke is confirmed at a terminal', async () => {
    const before = await keysNow();
    const at = { data: platform.data, terminals: ['stdin', 'stderr'], input: 'n\n' } as const;
    const refused = await runInProcess(['token', 'rotate', '--revoke'], at);
    expect(refused).toMatchObject({ code: 13, stdout: '', stderr: expect.stringContaining('would become invalid') });
    expect(await keysNow()).toEqual(before);
  });

  test('a key rotation with --revoke publishes only the new key', async () => {
    const { code, stdout } = await run(['token', 'rotate', '--revoke']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Published keys: 1.')]);
    const token = (await run(['token'])).stdout.trim();
    expect(await keysNow()).toEqual([kidOf(token)]);
    // Verifiers fetch the keys again for an unknown key after at most 30 s.
    await until('the verifier has fetched the new key', async () => (await policies(token)) === 200);
  });

  test('a key rotation needs existing keys and no running platform', async () => {
    using folder = folderWithFiles();
    expect(await runCli(['token', 'rotate'], { data: folder.path })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds no signing keys'),
    });
    const keyFile = join(folder.path, 'tokens', 'signing.keys');
    mkdirSync(dirname(keyFile));
    copyFileSync(join(platform.data, 'tokens', 'signing.keys'), keyFile);
    expect(await runCli(['token', 'rotate'], { data: folder.path })).toMatchObject({ code: 0 });
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  });
});

test('portcullis status shows the addresses, and a subject that is not an administrator is refused', async () => {
  const { addresses } = await json('status');
  for (const name of ['management', 'issuer']) expect(addresses[name]).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const token = join(platform.data, 'ann.token');
  writeFileSync(token, (await run(['token', '--subject', 'ann'])).stdout);
  const refused = await run(['get', 'gp', ...overApi, '--token-file', token, '--json']);
  const grant = 'portcullis admin grant ann --role viewer';
  expect([refused.code, JSON.parse(refused.stderr).error.message]).toEqual([
    9,
    `The token in ${token} belongs to "ann", who has no role that permits this. Ask an administrator for a role: "${grant}".`,
  ]);
  expect((await run(grant.split(' ').slice(1))).code).toBe(0);
  expect((await run(['get', 'gp', ...overApi, '--token-file', token])).code).toBe(0);
  const written = await run(['archive', 'guarded-chat', ...overApi, '--token-file', token]);
  expect([written.code, written.stderr]).toEqual([
    9,
    expect.stringMatching(/"portcullis admin grant ann --role author --policy [0-9a-f-]{36}"\.\n$/),
  ]);
});

test('a policy is created, read, edited, archived and unarchived over the management API by its resource name', async () => {
  const name = await createPolicy('house-rules');
  expect((await run(['get', 'gp', name, ...overApi])).stdout).toMatch(/^NAME +REVISION +ACCEPTED +LIFECYCLE +TESTS/);
  expect((await run(['get', 'gp', '-o', 'wide', ...overApi])).stdout).toMatch(
    new RegExp(`^${name} .* house-rules `, 'm'),
  );
  const shown = await run(['get', 'gp', name, '-o', 'yaml', ...overApi]);
  const policy = parse(shown.stdout);
  expect(policy).toMatchObject({ metadata: { name }, spec: { displayName: 'house-rules', lifecycle: 'Draft' } });
  expect((await run(['get', 'gp', name, '-o', 'yaml'])).stdout).toBe(shown.stdout);

  const edited = stringify({ ...policy, spec: { ...policy.spec, description: 'second' } });
  const saved = await run(['apply', '-f', '-', ...overApi], edited);
  expect(saved).toMatchObject({ code: 0, stdout: `GuardrailPolicy ${name} configured\n` });
  const late = await run(['apply', '-f', '-', ...overApi], edited);
  expect(late).toMatchObject({ code: 10, stderr: expect.stringContaining('was changed concurrently') });
  const { metadata: _metadata, ...rest } = policy;
  const same = stringify({ ...rest, metadata: { name }, spec: { ...policy.spec, description: 'second' } });
  expect((await run(['apply', '-f', '-', ...overApi], same)).stdout).toBe(`GuardrailPolicy ${name} unchanged\n`);

  expect((await run(['archive', name, ...overApi])).stdout).toBe(`GuardrailPolicy ${name} is archived\n`);
  expect((await run(['archive', name, ...overApi])).stdout).toContain('is archived already');
  const refused = await run(['apply-revision', 'guarded-echo', '2', '--policy', name, ...overApi]);
  expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining('the policy is archived') });
  expect((await run(['unarchive', name, ...overApi])).code).toBe(0);

  const history = await json('history', name, ...overApi);
  expect(history.map((one: { revision: number }) => one.revision)).toEqual([4, 3, 2, 1]);
  expect(await json('history', name)).toEqual(history);
  const differs = await run(['diff', name, '1', '2', ...overApi]);
  expect(differs.stdout).toMatch(/^\+description: second$/m);
  expect((await run(['diff', name, '1', '2'])).stdout).toBe(differs.stdout);
  expect((await run(['diff', name, '1', '9', ...overApi])).code).toBe(3);
});

test('a file with the display name of a policy and another name replaces it over the management API after a confirmation only', async () => {
  const name = await createPolicy('copied');
  const copy = manifestOfWord('copied', 'another-word', { name: 'second-copy' });
  const replaced = `would replace the GuardrailPolicy ${name}, which has its display name`;
  for (const words of [
    ['diff', '-f', '-'],
    ['apply', '-f', '-', '--dry-run=client'],
    ['apply', '-f', '-', '--dry-run=server'],
  ]) {
    const shown = await run([...words, ...overApi], copy);
    expect([words, shown.stderr]).toEqual([words, expect.stringContaining(replaced)]);
    expect([words, shown.stdout]).toEqual([words, expect.stringMatching(new RegExp(`GuardrailPolicy ${name} `))]);
    expect([words, shown.stdout]).toEqual([words, expect.not.stringContaining('second-copy')]);
  }
  const refused = await run(['apply', '-f', '-', ...overApi], copy);
  expect(refused).toMatchObject({ code: 13, stdout: '', stderr: expect.stringContaining(replaced) });
  expect((await json('get', 'gp', name)).status.latestRevision.number).toBe(1);
  const confirmed = await run(['apply', '-f', '-', '--yes', ...overApi], copy);
  expect(confirmed).toMatchObject({ code: 0, stdout: `GuardrailPolicy ${name} configured\n` });
  // A file without a difference is no change.
  const again = await run(['apply', '-f', '-', ...overApi], copy);
  expect(again).toMatchObject({ code: 0, stdout: `GuardrailPolicy ${name} unchanged\n`, stderr: '' });
  const other = copy.replaceAll('copied', 'copied-twice').replace('second-copy', 'copied-twice');
  expect((await run(['apply', '-f', '-', ...overApi], other)).stdout).toBe('GuardrailPolicy copied-twice created\n');
});

test('two new policies of one display name are refused over the management API before either is written', async () => {
  const files = (word: string) =>
    [manifestOfWord('twins', 'one', { name: 'twin-a' }), manifestOfWord('twins', word, { name: 'twin-b' })].join(
      '---\n',
    );
  const both = 'The policies twin-a and twin-b of the files have the same display name "twins"';
  for (const words of [
    ['apply', '-f', '-'],
    ['apply', '-f', '-', '--yes'],
    ['apply', '-f', '-', '--dry-run=server'],
    ['apply', '-f', '-', '--dry-run=client'],
  ]) {
    const refused = await run([...words, ...overApi], files('two'));
    expect([words, refused]).toEqual([words, { code: 2, stdout: '', stderr: expect.stringContaining(both) }]);
  }
  const { items } = await json('get', 'gp');
  const shown = items.map(({ spec }: { spec: { displayName: string } }) => spec.displayName);
  expect(shown).not.toContain('twins');
  // The policies get resource names of their own, under which both are found later.
  expect((await run(['apply', '-f', '-'], files('two'))).code).toBe(0);
  expect(await run(['apply', '-f', '-', ...overApi], files('three'))).toMatchObject({
    code: 0,
    stdout: 'GuardrailPolicy twin-a unchanged\nGuardrailPolicy twin-b configured\n',
  });
});

test('archive and unarchive write a policy as a resource', async () => {
  const name = await createPolicy('by-resource');
  expect((await run(['archive', name])).stdout).toBe(`GuardrailPolicy ${name} is archived\n`);
  expect((await json('get', 'gp', name)).spec.lifecycle).toBe('Archived');
  expect((await run(['unarchive', name])).stdout).toBe(`GuardrailPolicy ${name} is a draft\n`);
});

test('apply-revision, rollback and unbind have the same effect over resources and over the management API', async () => {
  const name = await createPolicy('applied-word');
  expect((await run(['apply', '-f', '-', ...overApi], manifestOfWord(name, 'second'))).code).toBe(0);
  const binding = async () => (await json('get', 'mb', 'guarded-echo', ...overApi)).spec.guardrail;
  const before = await binding();
  const reason = ['--message', 'for the word second'];
  const applied = await run(['apply-revision', 'guarded-echo', '--policy', name, '--wait', ...reason, ...overApi]);
  expect(applied).toMatchObject({
    code: 0,
    stdout: `ModelBinding guarded-echo set to revision 2 of ${name}\nModelBinding guarded-echo is applied\n`,
  });
  const { apply } = (await json('get', 'mb', 'guarded-echo')).spec;
  expect(await run(['operation', 'wait', apply])).toMatchObject({ code: 0 });
  expect(await json('operation', 'get', apply)).toMatchObject({ kind: 'binding.apply', state: 'succeeded' });
  const { items } = await json('operation', 'list', '--kind', 'binding.apply', '--limit', '1');
  expect(items).toMatchObject([{ operationId: apply, targetName: 'guarded-echo', message: 'for the word second' }]);
  expect((await run(['operation', 'list'])).stdout).toMatch(
    new RegExp(`\n${apply} .* binding\\.apply +model guarded-echo +succeeded +for the word second\n`),
  );
  expect((await run(['operation', 'list', '--subject', 'nobody-else'])).stdout).toBe('There is no such operation.\n');
  const described = (await run(['describe', 'mb', 'guarded-echo', ...overApi])).stdout;
  expect(described).toMatch(/State:\n {2}Gateway: +default\n {2}Binding: +applied\n {2}Desired: +revision 2\n/);
  expect((await run(['chat', 'guarded-echo', '--message', 'second'])).code).toBe(6);

  for (const via of ['api', 'resources']) {
    const forth = ['apply-revision', 'guarded-echo', '2', '--policy', name, '--wait', '--via', via];
    expect([via, (await run(forth)).code]).toEqual([via, 0]);
    const back = await run(['rollback', 'guarded-echo', '--wait', '--via', via]);
    expect([via, back.code, await binding()]).toEqual([via, 0, before]);
  }
  const unconfirmed = await run(['unbind', 'guarded-echo', '--wait', ...overApi]);
  expect(unconfirmed).toMatchObject({ code: 13, stdout: '' });
  expect(unconfirmed.stderr).toContain('ModelBinding guarded-echo would become UNGUARDED');
  expect(await binding()).toEqual(before);
  expect((await run(['unbind', 'guarded-echo', '--yes', '--wait', ...overApi])).code).toBe(0);
  expect((await run(['describe', 'mb', 'guarded-echo', ...overApi])).stdout).toMatch(
    /Binding: +unbound\n {2}Desired: +UNGUARDED\n {2}Serving: +UNGUARDED\n/,
  );
  expect((await run(['get', 'mb', 'guarded-echo'])).stdout).toMatch(/ guarded-echo +UNGUARDED +- +UNGUARDED +True /);
  expect((await run(['status'])).stdout).toMatch(/\nguarded-echo +guarded-echo +- +- +UNGUARDED +UNGUARDED /);
  const why = (await run(['why', 'guarded-echo'])).stdout;
  expect(why).toContain('ModelBinding guarded-echo is UNGUARDED, as its spec declares');
  expect(why).toContain('Served now: UNGUARDED: requests and answers are not checked.');
  await until('the management API explains the unguarded binding', async () => {
    const { code, stdout } = await run(['why', 'guarded-echo', ...overApi]);
    return code === 0 && stdout.includes('Served now: UNGUARDED') && stdout.includes('Gateway replicas:\n');
  });
  expect(await run(['why', 'guarded-ecko', ...overApi])).toMatchObject({ code: 3, stdout: '' });
  expect((await json('status', ...overApi)).problems).toEqual([]);
  const recorded = `GuardrailPolicy ${name} is recorded and can be applied`;
  expect((await run(['why', `policy/${name}`, ...overApi])).stdout).toContain(recorded);
  const both = (await run(['why', 'guarded-echo', `policy/${name}`, ...overApi])).stdout;
  expect(both.indexOf(recorded)).toBeGreaterThan(both.indexOf('Served now: UNGUARDED'));
  expect((await run(['status', ...overApi])).stdout).toMatch(
    /\nguarded-echo +guarded-echo +- +- +UNGUARDED +UNGUARDED +1\/1 +-/,
  );
  expect((await run(['unbind', 'guarded-echo', '--wait', ...overApi])).code).toBe(0);
  expect((await run(['rollback', 'guarded-echo', '--to', '1', ...overApi])).stderr).toContain(
    'leave out --to to return to the one before, or name one with "portcullis apply-revision guarded-echo 1 --policy POLICY"',
  );
  expect((await run(['rollback', 'guarded-echo', '--wait', ...overApi])).code).toBe(0);
  expect(await binding()).toEqual(before);
});

test('revisions and applications keep their author and message, over both transports', async () => {
  const name = await createPolicy('authored');
  const user = `${userInfo().username} (command line)`;
  const subject = 'root-admin (http://issuer.portcullis.localhost)';
  const changed = manifestOfWord(name, 'other');
  expect((await run(['apply', '-f', '-', '--message', 'второе слово'], changed)).code).toBe(0);
  const archived = ['archive', name, '--message', 'no longer used', ...overApi];
  expect((await run(archived)).code).toBe(0);
  expect((await run(['unarchive', name])).code).toBe(0);
  const history = async () =>
    (await json('history', name)).map(({ author, message }: Record<string, string>) => [author, message]);
  // The operator records the change of a resource after the command has ended.
  await until('four revisions are recorded', async () => (await history()).length === 4);
  expect(await history()).toEqual([
    [user, ''],
    [subject, 'no longer used'],
    [user, 'второе слово'],
    [subject, ''],
  ]);
  const apply = ['apply-revision', 'guarded-echo', '1', '--policy', name, '--wait'];
  expect((await run([...apply, '--message', 'first use'])).code).toBe(0);
  expect((await run(['rollback', 'guarded-echo', '--wait', '-m', 'too strict', ...overApi])).code).toBe(0);
  const { applications } = (await json('get', 'mb', 'guarded-echo', ...overApi)).status;
  expect(applications.slice(0, 2)).toMatchObject([
    { author: subject, message: 'too strict' },
    { author: user, message: 'first use' },
  ]);
  for (const via of [[], overApi]) {
    const rows = await json('history', 'binding/guarded-echo', ...via);
    expect(rows.slice(0, 2)).toMatchObject([
      { author: subject, message: 'too strict', outcome: 'Applied', serves: true },
      { author: user, message: 'first use', outcome: 'Applied', serves: false, policy: name, revision: 1 },
    ]);
    const { stdout } = await run(['history', 'mb/guarded-echo', ...via]);
    expect(stdout).toMatch(
      /^TIME +OUTCOME +POLICY +REVISION +SERVES +AUTHOR +MESSAGE\n.* Applied .* yes .* too strict\n/,
    );
  }
  expect(await run(['history', 'workload/x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no history'),
  });
  for (const text of ['', 'two\nlines', 'a'.repeat(513)]) {
    expect(await run([...apply, '--message', text])).toMatchObject({ code: 2, stdout: '' });
  }
});

test('portcullis apply --via api --wait of a policy and its binding prints the warnings that the operator found', async () => {
  const name = await createPolicy('doubtful');
  const policy = policyManifest({ name, response: patternRule('culprit', '^begins') }).replace('  tests: []\n', '');
  const bound = await json('get', 'mb', 'guarded-echo');
  const guardrail = { mode: 'Policy', policyRef: { name } };
  const { apply: _token, ...spec } = bound.spec;
  const binding = {
    apiVersion: bound.apiVersion,
    kind: bound.kind,
    metadata: { name: 'guarded-echo' },
    spec: { ...spec, guardrail },
  };
  const end = await run(['apply', '-f', '-', '--wait', ...overApi], `${policy}---\n${stringify(binding)}`);
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining('ModelBinding guarded-echo is applied\n') });
  expect(end.stderr).toMatch(/^portcullis: warning: policy doubtful: .*rule culprit: it is anchored/);
  expect((await run(['rollback', 'guarded-echo', '--wait'])).code).toBe(0);
});

test('an operation and the observation of its model contain the reason of a failed application, in the words of why', async () => {
  const costly = policyManifest({ name: 'reason-costly', request: patternRule('heavy', '(a|b).{0,1000}(c|d)') });
  const untrue = policyManifest({
    name: 'reason-tests',
    tests: '[{ name: says-word, stage: request, messages: [{ role: user, content: forbidden }], expect: Pass }]',
  });
  const bound = await json('get', 'mb', 'guarded-echo');
  const binding = (name: string, provider: string) => {
    const model = { ...bound.spec.model, alias: name, provider };
    const spec = { ...bound.spec, model, guardrail: { mode: 'None' } };
    return stringify({ apiVersion: bound.apiVersion, kind: bound.kind, metadata: { name }, spec });
  };
  const models = [binding('reasoned', bound.spec.model.provider), binding('reasoned-away', 'nowhere')];
  expect((await run(['apply', '-f', '-'], [costly, untrue, ...models].join('---\n'))).code).toBe(0);
  const cases = [
    ['reasoned', 'reason-costly', 'rule_too_costly', /rule heavy: its time .* may be above 25 ms/],
    ['reasoned', 'reason-tests', 'policy_tests_failed', /says-word/],
    ['reasoned-away', 'reason-tests', 'provider_unknown', /The provider nowhere of spec\.model\.provider is not/],
  ] as const;
  for (const [model, policy, code, sentence] of cases) {
    const client = await clientOf();
    const idOf = (kind: string, name: string): Promise<string> =>
      until('the operator has given it an id', async () => {
        return (await json('get', kind, name)).metadata.labels?.['portcullis.dev/id'];
      });
    const { contentProfile } = (await json('get', 'mb', model)).spec;
    const foreseen = await client.dryRunBinding(await idOf('mb', model), {
      policyId: await idOf('gp', policy),
      policyRevision: 1,
      contentProfile,
    });
    const end = await run(['apply-revision', model, '1', '--policy', policy, '--wait', ...overApi]);
    expect([policy, end.code]).toEqual([policy, 9]);
    const { spec } = await json('get', 'mb', model);
    const operation = await until('the operation has ended', async () => {
      const read = await json('operation', 'get', spec.apply);
      return read.state === 'failed' ? read : undefined;
    });
    expect(operation.error).toMatchObject({ code, cause: expect.stringMatching(sentence) });
    const { traceId: _trace, ...reason } = operation.error;
    expect(foreseen.error).toEqual(reason);
    const shown = (await run(['operation', 'get', spec.apply])).stdout;
    expect(shown).toContain(`binding.apply: failed (${code})\n${operation.error.cause}\n`);
    const { observation } = (await client.getBinding(await idOf('mb', model))).value;
    expect(observation).toMatchObject({ reason: code, cause: operation.error.cause });
    const why = await json('why', model);
    expect(why.cause.message).toContain(operation.error.cause);
    expect(observation.whatToDo).toBe(why.whatToDo);
    const described = await run(['describe', 'mb', model, ...overApi]);
    expect(described.stdout).toContain(operation.error.cause);
  }
});

test('a dry run over the management API reports the outcome of an application, and writes nothing', async () => {
  const word = await createPolicy('dry-word');
  const costly = policyManifest({ name: 'dry-costly', request: patternRule('heavy', '(a|b).{0,1000}(c|d)') });
  const stored = costly.replace('dry-costly', 'dry-stored').replace('Small', 'dry-stored');
  expect((await run(['apply', '-f', '-'], stored)).code).toBe(0);
  const bound = async () => {
    const objects = [await json('get', 'mb', 'guarded-echo'), ...(await json('get', 'gp')).items];
    return objects.map(({ metadata, spec }) => [metadata.name, metadata.generation, spec]);
  };
  const before = await bound();
  const dry = ['--dry-run', 'server', ...overApi];
  const saved = await run(['apply', '-f', '-', ...dry], costly.replace('  tests: []\n', '').replace('Small', 'dry'));
  expect(saved).toMatchObject({ code: 0, stdout: 'GuardrailPolicy dry-costly created (server dry run)\n' });
  expect(saved.stderr).toMatch(/its application would fail \(rule_too_costly\): .*rule heavy: its time/);
  const good = await run(['apply', '-f', '-', ...dry], manifestOfWord(word, 'other'));
  expect(good).toMatchObject({ code: 0, stderr: '', stdout: `GuardrailPolicy ${word} configured (server dry run)\n` });
  const applied = await run(['apply-revision', 'guarded-echo', '1', '--policy', word, ...dry]);
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const refused = await run(['apply-revision', 'guarded-echo', '1', '--policy', 'dry-stored', ...dry]);
  expect(refused.code).toBe(9);
  expect(refused.stderr).toMatch(/guarded-echo would not be applied \(rule_too_costly\): .*rule heavy: its time/);
  expect((await run(['archive', word, ...dry])).stdout).toContain('server dry run');
  expect((await run(['unbind', 'guarded-echo', ...dry])).code).toBe(0);
  expect(await bound()).toEqual(before);
});

test('the management API refuses a change message that is not one line of text in percent encoding', async () => {
  const token = (await run(['token'])).stdout.trim();
  for (const message of ['%', 'a%0Ab', 'a'.repeat(513)]) {
    const response = await fetch(`${platform.status().addresses.management}/api/v1/guardrail-policies`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
        'x-portcullis-change-message': message,
      },
      body: JSON.stringify({ name: 'unnoted', description: '', definition: definitionOfWord('x') }),
    });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('x-portcullis-change-message');
  }
});

test('rollback and unbind keep the content profile of the binding, and apply-revision --profile changes it', async () => {
  const older = 'gateway-1.5.0-text-webhook-v1';
  const name = await createPolicy('kept-profile');
  const profile = async () => (await json('get', 'modelbinding', 'guarded-echo')).spec.contentProfile;
  const token = join(platform.data, 'profile.token');
  writeFileSync(token, (await run(['token'])).stdout);
  // --server alone selects the API.
  const elsewhere = ['--server', platform.status().addresses.management ?? '', '--token-file', token];
  const forth = ['apply-revision', 'guarded-echo', '1', '--policy', name, '--wait'];
  expect((await run([...forth, '--profile', older, ...elsewhere])).code).toBe(0);
  expect(await profile()).toBe(older);
  expect((await run(['rollback', 'guarded-echo', '--wait', ...elsewhere])).code).toBe(0);
  expect(await profile()).toBe(older);
  expect((await run(['unbind', 'guarded-echo', '--yes', '--wait', ...elsewhere])).code).toBe(0);
  expect(await profile()).toBe(older);
  expect((await run(['rollback', 'guarded-echo', '--wait', ...elsewhere])).code).toBe(0);
  const current = 'gateway-1.5.0-chat-webhook-v2';
  expect((await run(['apply-revision', 'guarded-echo', '--profile', current, '--wait'])).code).toBe(0);
  expect(await profile()).toBe(current);
});

test('missing, ambiguous and invalid arguments have their exit codes and a remedy over the management API', async () => {
  const absent = '01890000-0000-7000-8000-000000000000';
  for (const words of [
    ['get', 'gp', 'nobody', ...overApi],
    ['get', 'mb', 'nobody', ...overApi],
    ['rollback', 'nobody', ...overApi],
    ['operation', 'get', absent],
  ]) {
    expect([words, (await run(words)).code]).toEqual([words, 3]);
  }
  const { client } = { client: await clientOf() };
  for (const word of ['one', 'two']) {
    await client.createPolicy({ name: 'twice', description: '', definition: definitionOfWord(word) });
  }
  expect(
    await run(['apply', '-f', '-', ...overApi], manifestOfWord('twice', 'x', { name: 'neither-of-them' })),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2 policies have the display name twice'),
  });
  const wrong = await run(['apply', '-f', '-', ...overApi], 'name: -x\ndefinition: {}\n');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('standard input: ') });
  const far = await run(['get', 'gp', '--server', 'http://portcullis.example']);
  expect(far.code).toBe(2);
  for (const [words, sentence] of [
    [['get', 'gwr', ...overApi], 'and no GatewayRoute: repeat the command with --via resources'],
    [['why', 'agent/assistant', ...overApi], 'repeat the command with --via resources'],
    [['delete', 'gp', 'guarded-chat', '--yes', ...overApi], 'repeat the command with --via resources'],
    [['apply', '-f', 'examples/rule-pack/secrets.yaml', ...overApi], 'spec.tests cannot be changed'],
    [
      ['apply', '-f', 'examples/agents/assistant/agent.yaml', ...overApi],
      'does not write the kind Agent, and nothing was written: apply assistant with --via resources',
    ],
    [['get', 'gp', '--token-file', 'x'], '--token-file belongs to the management API: add --via api'],
  ] as const) {
    expect([words, await run(words)]).toMatchObject([words, { code: 2, stderr: expect.stringContaining(sentence) }]);
  }
  expect(await json('provider', 'list', ...overApi)).toEqual({ items: [] });
  const { items } = await json('provider', 'list');
  expect(items).toContainEqual(expect.objectContaining({ name: 'echo', kind: 'model', enabled: true }));
});

test('labels and annotations that the management API cannot change are refused, and nothing is written', async () => {
  const name = await createPolicy('unlabelled');
  const runEdit = (command: string, ...more: readonly string[]) =>
    runCli(['edit', 'gp', name, ...more], { data: platform.data, environment: { KUBE_EDITOR: command } });
  const label = { labels: { team: 'a' }, annotations: { memo: 'b' } };
  const labelled = manifestOfWord('unlabelled', 'second', { name, ...label });
  for (const [end, member] of [
    [await run(['apply', '-f', '-', ...overApi], labelled), 'metadata.labels'],
    [await run(['apply', '-f', '-', ...overApi], manifestOfWord('unlabelled-too', 'word', label)), 'metadata.labels'],
    [await runEdit('sed -i s/^spec:/"  annotations: {memo: b}\n"spec:/', ...overApi), ''],
  ] as const) {
    expect(end.code, end.stderr).toBe(2);
    expect(end.stderr).toContain(member);
  }
  expect(await json('history', name)).toHaveLength(1);
  expect((await run(['apply', '-f', '-'], labelled)).code).toBe(0);
  const removed = await runEdit('sed -i /team:/d', ...overApi);
  expect(removed).toMatchObject({ code: 2, stderr: expect.stringContaining('team would be') });
  expect((await json('get', 'gp', name)).metadata.labels).toMatchObject({ team: 'a' });
  expect((await run(['apply', '-f', '-', ...overApi], labelled)).stdout).toContain('unchanged');
});

test('a repeated idempotency key has one effect; another command with it is a conflict', async () => {
  const key = ['--idempotency-key', 'a-key-of-this-test'];
  const name = await createPolicy('once');
  const save = () => run(['apply', '-f', '-', ...overApi, ...key], manifestOfWord(name, 'changed'));
  for (let time = 0; time < 2; time += 1) {
    expect(await save()).toMatchObject({ code: 0, stdout: `GuardrailPolicy ${name} configured\n` });
  }
  expect((await json('history', name)).length).toBe(2);
  const second = await createPolicy('once-more');
  const two = `${manifestOfWord(name, 'never')}---\n${manifestOfWord(second, 'never')}`;
  const shared = await run(['apply', '-f', '-', ...overApi, ...key], two);
  expect(shared).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('the key of one command') });
  expect((await json('history', name)).length).toBe(2);
  const other = await run(['apply', '-f', '-', ...overApi, ...key], manifestOfWord(name, 'other'));
  expect(other).toMatchObject({ code: 10, stderr: expect.stringContaining('Idempotency-Key belongs to another') });
});

test('shell completion offers the names of policies and bindings', async () => {
  const complete = async (...words: readonly string[]) => (await run(['__complete', ...words])).stdout.split('\n');
  const name = await createPolicy('complete-me');
  expect(await complete('get', 'gp', name.slice(0, -1))).toContain(name);
  expect(await complete('archive', '--via', 'api', name.slice(0, -1))).toContain(name);
  expect(await complete('unbind', '')).toContain('guarded-echo');
});

describe('the client', () => {
  /** A proxy to the management API that drops the first answers after the command was executed. */
  async function lossyWay(lose: number): Promise<{ readonly origin: string; readonly keys: readonly string[] }> {
    const keys: string[] = [];
    const proxy = await startFaultyProxy(platform.status().addresses.management ?? '');
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    proxy.choose = ({ rawHeaders }) => {
      const place = rawHeaders.findIndex((name) => name.toLowerCase() === 'idempotency-key');
      keys.push(rawHeaders[place + 1] ?? '');
      return keys.length > lose ? { kind: 'pass' } : { kind: 'lost', ending: 'reset' };
    };
    return { origin: proxy.url, keys };
  }

  test('the management client retries a command whose answer was lost with the same key, and it has one effect', async () => {
    const way = await lossyWay(2);
    const client = await clientOf(way.origin);
    const definition = definitionOfWord('lossy');
    const { target } = await client.createPolicy({ name: 'lossy', description: '', definition });
    expect(way.keys).toHaveLength(3);
    expect(new Set(way.keys).size).toBe(1);
    const { items } = await client.listPolicies({ limit: 50 });
    expect(items.filter(({ name }) => name === 'lossy')).toMatchObject([{ id: target.id }]);
  });

  test('the management client has an error type for a refusal, no answer, and an invalid answer', async () => {
    const client = await clientOf();
    const refused = await client.getRevision('none', 1).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ManagementApiError);
    expect(refused).toMatchObject({
      code: 'invalid_path_id',
      status: 400,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    const stale = await client.listPolicies().then(({ items }) => client.getPolicy(items[0]?.id ?? ''));
    const { name, description, definition, status } = stale.value;
    const change = client.replacePolicy(stale.value.id, { name, description, definition, status }, { etag: '"other"' });
    expect(await change.catch((error: unknown) => error)).toMatchObject({ code: 'etag_mismatch', exit: 'conflict' });
    const gateway = await clientOf(platform.status().addresses.gateway);
    expect(await gateway.listProviders().catch((error: unknown) => error)).toBeInstanceOf(ManagementAnswerError);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    closed.close();
    const nobody = await clientOf(`http://127.0.0.1:${port}`, 500);
    expect(await nobody.listProviders().catch((error: unknown) => error)).toBeInstanceOf(ManagementUnreachableError);
  });
});

test('killed processes are restarted at their addresses, and no write is lost', async () => {
  const policy = await createPolicy('survivor');
  const { addresses } = platform.status();
  for (const name of ['management', 'issuer', 'postgres']) {
    const pid = platform.pidOf(name);
    process.kill(pid, 'SIGKILL');
    await until(`${name} serves again`, () => platform.status().ready && platform.pidOf(name) !== pid);
    expect(platform.status().addresses).toEqual(addresses);
    const again = await until('the policy is read', async () => {
      const { code, stdout } = await run(['get', 'gp', policy, '--json', ...overApi]);
      return code === 0 ? JSON.parse(stdout) : undefined;
    });
    expect(again).toMatchObject({ metadata: { name: policy }, status: { latestRevision: { number: 1 } } });
  }
});

describe('a start', () => {
  test('a restart after a stop and after kill -9 finds every operation and ends the leftover database server', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data, management: true });
    const operationId = await createIn(data, 'kept');
    const { management, issuer } = first.status().addresses;
    expect(await first.end('SIGINT')).toBe(0);
    for (const url of [management, issuer]) expect(await isOpen(url ?? '')).toBe(false);
    expect(readFileSync(join(data, 'logs/postgres.log'), 'utf8')).toContain('received fast shutdown request');
    const isFound = async (id: string) => {
      const found = await runCli(['operation', 'get', id, '--json'], { data });
      expect(JSON.parse(found.stdout)).toMatchObject({ operationId: id, state: 'succeeded' });
    };
    const again = await startPlatform({ data, management: true });
    expect(again.status().addresses.issuer).toBe(issuer);
    await isFound(operationId);
    const written = await createIn(data, 'written');
    const left = descendantsOf(again.status().pid);
    expect(await again.end('SIGKILL')).toBe('SIGKILL');
    await using third = await startPlatform({ data, management: true });
    expect(left.filter(isProcessRunning)).toEqual([]);
    expect(third.status().managementOff).toBeUndefined();
    await isFound(written);
  });

  test('a start of the platform that is interrupted while it creates the database leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const child = startCommand(['up', '--data', data, '--port', '0']);
    await until('the database is being created', () => existsSync(join(data, 'postgres')), { everyMs: 1 });
    const children = descendantsOf(child.pid ?? 0);
    child.signal('SIGINT');
    expect(await child.exit()).toBe(0);
    expect(children.filter(isProcessRunning)).toEqual([]);
  });

  test('a platform without PostgreSQL serves guarded chats and reports why policy management is off', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data });
    expect(first.status()).toMatchObject({ ready: true, managementOff: expect.stringContaining('--no-management') });
    expect(await first.end()).toBe(0);
    folder.write('data/postgres', 'in the way of the database');
    await using again = await startPlatform({ data, management: true });
    expect(again.status()).toMatchObject({
      ready: true,
      managementOff: expect.stringContaining('process postgres ended'),
    });
    expect(again.status().addresses.management).toBeUndefined();
    expect(again.output()).toContain('policy management is off until the next start');
    expect(await runCli(['chat', 'guarded-echo', '-m', 'Hello'], { data })).toMatchObject({
      code: 0,
      stdout: 'Hello\n',
    });
    expect(await runCli(['get', 'gp', ...overApi], { data })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('The management API of'),
    });
  });
});

/** @returns the operation that created the policy */
async function createIn(data: string, name: string): Promise<string> {
  const { stdout } = await runCli(['apply', '-f', '-', '--json', ...overApi], {
    data,
    input: manifestOfWord(name, name),
  });
  return JSON.parse(stdout)[0].object.spec.change.split('/')[0];
}

async function isOpen(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const outcome = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return outcome;
}
