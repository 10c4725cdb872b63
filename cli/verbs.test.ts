import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { ProgramEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { idLabel } from '#resources/kinds';
import { type Platform, startCommand, startPlatform } from '../e2e/support/start-platform.ts';
import { manifestOfWord } from './testing/policy-text.ts';
import { runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ management: true, environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' } });
  await run(['apply', '-f', '-', '--wait'], manifestOfWord('second', 'alpha', { labels: { team: 'chat' } }));
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runInProcess(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
const words = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
/** Starts a command that runs until it is stopped. */
const start = (...args: readonly string[]) => startCommand(args, { PORTCULLIS_DATA_DIR: platform.data });

describe.each([['resources'], ['api']])('reads over --via %s', (via) => {
  const get = (...args: readonly string[]) => run(['get', ...args, '--via', via]);

  test('portcullis get accepts kinds by singular, plural, short name and last word, and several names', async () => {
    const withoutAge = ({ stdout }: ProgramEnd) => stdout.replace(/ +\d+[smh]$/gm, '');
    const expected = withoutAge(await get('guardrailpolicies', '--no-headers'));
    expect(expected).toMatch(/^guarded-chat .*\nsecond /);
    for (const kind of ['gp', 'policy', 'Policies', 'guardrailpolicies.portcullis.dev']) {
      expect(withoutAge(await get(kind, 'guarded-chat', 'second', '--no-headers'))).toBe(expected);
    }
    expect((await get('policy/second', 'gp/guarded-chat', '-o', 'name')).stdout).toBe(
      'guardrailpolicy.portcullis.dev/second\nguardrailpolicy.portcullis.dev/guarded-chat\n',
    );
    const missing = await get('policy', 'second', 'missing');
    expect(missing).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('no GuardrailPolicy named missing'),
    });
  });

  test('portcullis get all shows a table for each kind, with the kind before each name', async () => {
    const { code, stdout } = await get('all');
    expect(code).toBe(0);
    expect(stdout).toContain('\nguardrailpolicy.portcullis.dev/second ');
    expect(stdout).toContain('\n\nNAME');
    expect(stdout).toContain('\nmodelbinding.portcullis.dev/guarded-echo ');
    expect(stdout.includes('gatewayroute.portcullis.dev/')).toBe(via === 'resources');
  });

  test('portcullis get selects by labels, shows them and sorts', async () => {
    expect((await get('gp', '-l', 'team=chat', '-o', 'name')).stdout).toBe('guardrailpolicy.portcullis.dev/second\n');
    const labelled = (await get('gp', 'second', '--show-labels')).stdout;
    expect(words(labelled)[0]?.at(-1)).toBe('LABELS');
    expect(words(labelled)[1]?.at(-1)).toMatch(new RegExp(`^(?=.*team=chat).*${idLabel}=`));
    const sorted = (path: string) => get('gp', '--sort-by', path, '-o', 'jsonpath={.items[*].metadata.name}');
    expect((await sorted('{.metadata.creationTimestamp}')).stdout).toBe('guarded-chat second');
    expect((await sorted('.spec.definition.request.deadlineMs')).code).toBe(0);
    expect(await sorted('.spec.absent')).toMatchObject({ code: 2, stderr: expect.stringContaining('--sort-by') });
    expect(await get('gp', 'second', '-l', 'a=b')).toMatchObject({ code: 2 });
  });

  test('portcullis describe accepts KIND/NAME, several names and labels, as get does', async () => {
    const describeOf = (...args: readonly string[]) => run(['describe', ...args, '--via', via]);
    const both = await describeOf('policy/second', 'gp/guarded-chat');
    expect(both.stdout).toMatch(/^Name: +second\n(.|\n)*\n\nName: +guarded-chat\n/);
    expect((await describeOf('gp', 'second', 'guarded-chat')).stdout).toBe(both.stdout);
    expect((await describeOf('gp/second')).stdout).toBe(both.stdout.split('\n\nName:')[0]?.concat('\n'));
    expect((await describeOf('gp', '-l', 'team=chat', '-o', 'name')).stdout).toBe(
      'guardrailpolicy.portcullis.dev/second\n',
    );
    expect(JSON.parse((await describeOf('gp/second', '-o', 'json')).stdout)).toMatchObject({ kind: 'GuardrailPolicy' });
    expect(await describeOf('policies', '-l', 'team=none')).toEqual({
      code: 0,
      stdout: '',
      stderr: 'portcullis: No guardrailpolicies with the labels team=none in the namespace default.\n',
    });
    expect((await describeOf('mb/guarded-echo')).stdout.includes('\nState:\n')).toBe(via === 'api');
    expect(await describeOf('gp', 'second', '-l', 'a=b')).toMatchObject({ code: 2 });
    expect(await describeOf('gp', 'missing')).toMatchObject({ code: 3, stdout: '' });
  });

  test('portcullis get writes JSON, YAML, names and JSONPath of one resource and of a list', async () => {
    const one = JSON.parse((await get('gp', 'second', '-o', 'json')).stdout);
    expect(parse((await get('gp/second', '-o', 'yaml')).stdout)).toEqual(one);
    expect((await get('gp', 'second', '-o', 'jsonpath={.spec.displayName}{"\\n"}')).stdout).toBe('second\n');
    const ready = '{range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Accepted")].status} {end}';
    expect((await get('policies', '-o', `jsonpath=${ready}`)).stdout).toBe('guarded-chat=True second=True ');
    expect(await get('policies', '-o', 'jsonpath={.items[(1)]}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Supported are'),
    });
    const described = await run(['describe', 'gp', 'second', '-o', 'jsonpath={.kind}', '--via', via]);
    expect(described.stdout).toBe('GuardrailPolicy');
    const history = await run(['history', 'second', '-o', 'jsonpath={[0].revision}', '--via', via]);
    expect(history.stdout).toBe('1');
    expect(await run(['history', 'second', '-o', 'name', '--via', via])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('This result has no names'),
    });
  });

  test('portcullis get --watch shows the list and then each change, including a deletion, until Ctrl-C', async () => {
    const name = `watched-${via}`;
    const watch = start('get', 'policies', '--watch', '--via', via);
    await until('the list is shown', () => watch.output().includes('second '));
    await run(['apply', '-f', '-'], manifestOfWord(name, 'one'));
    await until('the new policy is shown', () => watch.output().includes(`${name} `));
    await run(['apply', '-f', '-'], manifestOfWord(name, 'two'));
    await until('the revision is shown', () => new RegExp(`${name} +2 +True`).test(watch.output()));
    await run(['delete', 'policy', name, '--yes']);
    await until('the deletion is shown', () => new RegExp(`${name} .*deleted`).test(watch.output()));
    expect(await watch.end('SIGINT')).toBe(0);
    expect(watch.output().match(/^NAME /gm)).toHaveLength(1);
  });
});

test('portcullis get of collections names the command that lists collections created by persons', async () => {
  const hint = '"portcullis collection list --as PERSON" shows the collections that persons created.\n';
  expect(await run(['get', 'collections'])).toMatchObject({
    code: 0,
    stdout: '',
    stderr: `portcullis: No collections in the namespace default. ${hint}`,
  });
  expect(await run(['get', 'collection', 'travel'])).toMatchObject({ code: 3, stderr: expect.stringContaining(hint) });
});

test('portcullis get writes to standard error that nothing was found, so that a script reads no name', async () => {
  const agents = { code: 0, stdout: '', stderr: 'portcullis: No agents in the namespace default.\n' };
  expect(await run(['get', 'agents'])).toEqual(agents);
  expect(await run(['get', 'agents', '--no-headers'])).toEqual(agents);
  expect(await run(['get', 'agents', '-A'])).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining(' any namespace'),
  });
  expect(await run(['get', 'gp', '-l', 'team=none'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'portcullis: No guardrailpolicies with the labels team=none in the namespace default.\n',
  });
  expect(await run(['get', 'all', '-l', 'team=none'])).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('No resources with the labels team=none'),
  });
  expect(await run(['get', 'agents', '-o', 'name'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('portcullis get --all-namespaces adds the namespace, and refuses names', async () => {
  const { stdout } = await run(['get', 'mb', '-A']);
  expect(words(stdout)[0]?.slice(0, 2)).toEqual(['NAMESPACE', 'NAME']);
  expect(words(stdout)[1]?.slice(0, 2)).toEqual(['default', 'guarded-echo']);
  expect(await run(['get', 'mb', 'guarded-echo', '-A'])).toMatchObject({ code: 2 });
});

test('portcullis get --watch writes a document for each change of a resource, and get exits when its reader exits', async () => {
  const watch = start('get', 'mb/guarded-echo', '-w', '-o', 'yaml');
  await until('the resource is written', () => watch.output().includes('kind: ModelBinding'));
  await run(['reapply', 'guarded-echo', '--wait']);
  await until('a change is written', () => parseAllDocuments(watch.output()).length > 1);
  expect(await watch.end('SIGINT')).toBe(0);
  const command = `"${process.execPath}" cli/main.ts get all -o name | head -1`;
  const piped = spawnSync('bash', ['-c', `set -o pipefail; ${command}`], {
    env: { ...process.env, PORTCULLIS_DATA_DIR: platform.data },
    encoding: 'utf8',
  });
  expect(piped.stdout).toBe('guardrailpolicy.portcullis.dev/guarded-chat\n');
});

test('portcullis logs prints lines of a process, of a component and of a workload, and follows them', async () => {
  const one = await run(['logs', 'operator', '--tail', '2']);
  expect(one.stdout.trim().split('\n')).toHaveLength(2);
  expect(JSON.parse(one.stdout.split('\n')[0] ?? '')).toMatchObject({ service: 'operator' });
  const all = (await run(['logs'])).stdout;
  for (const name of ['gateway-1', 'operator']) expect(all).toContain(`[${name}] {`);
  expect((await run(['logs', 'gateway', '--since', '1h'])).stdout).toContain('"service":"gateway"');
  const [workload = ''] = (await run(['get', 'rwl', '-o', 'jsonpath={.items[0].metadata.name}'])).stdout.split(' ');
  expect(await run(['logs', `workload/${workload}`])).toMatchObject({ code: 0 });
  const follow = start('logs', 'gateway-1', '--follow', '--tail', '1');
  await until('the last line is printed', () => follow.output().includes('"service":"gateway"'));
  const before = follow.output();
  await run(['reapply', 'guarded-echo', '--wait']);
  await until('a new line is followed', () => follow.output() !== before);
  expect(await follow.end('SIGINT')).toBe(0);
  expect(await run(['logs', 'gatway'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('Did you mean gateway?'),
  });
  expect(await run(['logs', 'gateway', '--since', '1d'])).toMatchObject({ code: 2 });
  expect(await run(['logs', '--via', 'api'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('does not show logs'),
  });
  expect((await run(['__complete', 'logs', 'gate'])).stdout).toBe('gateway\ngateway-1\n:4\n');
});

test('portcullis completes kinds, several names and KIND/NAME from the platform', async () => {
  const complete = async (...line: readonly string[]) =>
    (await run(['__complete', ...line])).stdout.split('\n').slice(0, -2);
  expect(await complete('get', 'a')).toEqual(['agentversions', 'agents', 'agentroutes', 'all']);
  expect(await complete('get', 'gp', '')).toEqual(['guarded-chat', 'second']);
  expect(await complete('get', 'gp', 'second', '')).toEqual(['guarded-chat']);
  expect(await complete('get', 'policy/g')).toEqual(['policy/guarded-chat']);
  expect(await complete('get', 'gp', '-o', 'j')).toEqual(['json', 'jsonpath=']);
});
