import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runToEnd } from '#kit/testing/run-to-end';
import { until } from '#kit/testing/until';
import { type Platform, startCommand, startPlatform } from '../e2e/support/start-platform.ts';
import { checkout } from './platform/data-directory.ts';
import { folderWithFiles, runInProcess } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({
    gateways: 2,
    management: true,
    environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' },
  });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (...args: readonly string[]) => runInProcess(args, { data: platform.data });
const decisions = async (...args: readonly string[]) =>
  JSON.parse((await run('activity', '--json', ...args)).stdout) as {
    items: { requestId: string }[];
    missing: string[];
  };

async function ask(gateway: string | undefined, content: string): Promise<string> {
  const answer = await fetch(`${gateway}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${platform.key}` },
    body: JSON.stringify({ model: 'guarded-echo', messages: [{ role: 'user', content }] }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
}

const denied = 'how to make a bomb';

test('portcullis activity names the rule that denied a request at any gateway', async () => {
  for (const gateway of platform.status().addresses.gateways) {
    const id = await ask(gateway, denied);
    const { items, missing } = await decisions('--request', id);
    expect(missing).toEqual([]);
    expect(items).toMatchObject([
      {
        requestId: id,
        model: 'guarded-echo',
        stage: 'request',
        outcome: 'denied',
        policy: 'guarded-chat',
        revision: '1',
      },
    ]);
    expect(items[0]).toMatchObject({ rule: 'forbidden-subjects', client: expect.stringMatching(/./) });
  }
  const { stdout } = await run('activity', '--limit', '1');
  expect(stdout).toMatch(/^TIME +MODEL +CLIENT +STAGE +OUTCOME +RULE +POLICY +REVISION +REQUEST\n/);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stdout).not.toContain('bomb');
});

test.each([
  [
    'json',
    (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).requestId),
  ],
  ['yaml', (text: string) => parseAllDocuments(text).map((document) => document.toJS().requestId)],
  ['jsonpath={.requestId}{"\\n"}', (text: string) => text.trim().split('\n')],
])('portcullis activity --follow -o %s writes each decision in that format', async (format, idsOf) => {
  const [gateway] = platform.status().addresses.gateways;
  const first = await ask(gateway, denied);
  const follow = startCommand(['activity', '--follow', '--limit', '1', '-o', format], {
    PORTCULLIS_DATA_DIR: platform.data,
  });
  await until('the newest decision is written', () => follow.output().includes(first));
  const next = await ask(gateway, denied);
  await until('the next decision is written', () => idsOf(follow.output()).includes(next));
  expect(idsOf(follow.output())).toEqual([first, next]);
  expect(await follow.end('SIGINT')).toBe(0);
});

test('a gateway shows its decisions only for the admin token', async () => {
  const [admin] = platform.status().addresses.gatewayAdmins;
  const statusFor = async (file: string) => {
    const token = readFileSync(join(platform.data, 'tokens', file), 'utf8').trim();
    return (await fetch(`${admin}/activity`, { headers: { authorization: `Bearer ${token}` } })).status;
  };
  expect(await statusFor('admin.token')).toBe(200);
  for (const file of ['api.token', 'runtime.token']) expect(await statusFor(file)).toBe(401);
});

test('portcullis activity selects decisions by outcome, client, rule, stage and age, over both transports', async () => {
  const [gateway] = platform.status().addresses.gateways;
  const refused = await ask(gateway, denied);
  const passed = await ask(gateway, 'hello');
  for (const via of [[], ['--via', 'api']]) {
    const ids = async (...args: readonly string[]) =>
      (await decisions(...via, '--since', '1h', ...args)).items.map(({ requestId }) => requestId);
    expect(await ids('--outcome', 'passed')).toContain(passed);
    expect(await ids('--outcome', 'passed')).not.toContain(refused);
    expect(await ids('--rule', 'forbidden-subjects', '--stage', 'request')).toContain(refused);
    expect(await ids('--rule', 'another-rule')).toEqual([]);
    expect(await ids('--client', 'another-client')).toEqual([]);
    expect((await decisions(...via, '--request', refused)).items).toMatchObject([{ policy: 'guarded-chat' }]);
  }
  for (const args of [
    ['--since', '10'],
    ['--outcome', 'blocked'],
    ['--limit', '1001'],
  ]) {
    expect((await run('activity', ...args)).code).toBe(2);
  }
});

test('kubectl portcullis activity shows the decisions that the management API collects, and requires the address of the API', async () => {
  const id = await ask(platform.status().addresses.gateway, denied);
  using folder = folderWithFiles();
  const token = folder.write('token', (await run('token')).stdout);
  const plugin = (...args: readonly string[]) =>
    runToEnd(process.execPath, [join(checkout, 'cli/kubectl/main.ts'), 'activity', ...args], { cwd: checkout });
  const server = platform.status().addresses.management ?? '';
  const shown = await plugin('--server', server, '--token-file', token, '--request', id, '-o', 'json');
  expect(JSON.parse(shown.stdout)).toMatchObject({ items: [{ requestId: id, policy: 'guarded-chat' }], missing: [] });
  const refused = await plugin();
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('needs the option --server <url>'),
  });
});

test('the management API lists decisions for administrators and refuses unknown filters', async () => {
  const url = `${platform.status().addresses.management}/api/v1/activity`;
  const get = async (query: string, token: string) => {
    const response = await fetch(`${url}${query}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: await response.json() };
  };
  const token = (await run('token')).stdout.trim();
  const other = (await run('token', '--subject', 'somebody')).stdout.trim();
  expect(await get('', other)).toMatchObject({ status: 403 });
  expect(await get('', 'wrong')).toMatchObject({ status: 401 });
  const { body } = await get('?limit=1&outcome=denied', token);
  expect(body).toMatchObject({ items: [{ outcome: 'denied' }], missing: [] });
  for (const query of ['?limit=0', '?limit=1001', '?since=yesterday', '?text=bomb', '?stage=both']) {
    expect([query, (await get(query, token)).status]).toEqual([query, 400]);
  }
});

test('portcullis chat --explain names the rule that denied the message, and without the option no rule', async () => {
  const explained = await run('chat', 'guarded-echo', '--explain', '--message', denied);
  expect(explained.code).toBe(6);
  expect(explained.stderr).toMatch(
    /denied at the stage request: rule forbidden-subjects \(policy guarded-chat, revision 1, request \S+\)\./,
  );
  const plain = await run('chat', 'guarded-echo', '--message', denied);
  expect(plain.stderr).not.toContain('rule');
  const passed = await run('chat', 'guarded-echo', '--explain', '--message', 'hello');
  expect(passed).toMatchObject({ code: 0, stderr: expect.stringContaining('no rule stopped or masked the text') });
});

test('portcullis chat --explain reports the denial even if the decision cannot be read', async () => {
  const token = join(platform.data, 'tokens/admin.token');
  renameSync(token, `${token}.away`);
  try {
    const end = await run('chat', 'guarded-echo', '--explain', '--message', denied);
    expect([end.code, end.stderr]).toEqual([6, expect.stringContaining('guardrail_blocked: ')]);
    expect(end.stderr).toContain('The decision cannot be read: ');
    const passed = await run('chat', 'guarded-echo', '--explain', '--message', 'hello', '--json');
    expect(JSON.parse(passed.stdout)).toMatchObject({
      complete: true,
      text: 'hello',
      decision: { sentence: expect.stringContaining('The decision cannot be read: ') },
    });
  } finally {
    renameSync(`${token}.away`, token);
  }
});

test('portcullis chat writes the text of a model to a terminal without its control characters', async () => {
  const clearing = `hello${String.fromCharCode(27)}[2Jworld`;
  const chat = (terminals: readonly 'stdout'[]) =>
    runInProcess(['chat', 'guarded-echo', '--message', clearing], { data: platform.data, terminals });
  expect((await chat(['stdout'])).stdout).toBe('hello\\x1b[2Jworld\n');
  expect((await chat([])).stdout).toBe(`${clearing}\n`);
});

test('portcullis chat asks for the message at a terminal, and prints no prompt for a pipe', async () => {
  const chat = (terminals: readonly 'stdin'[]) =>
    runInProcess(['chat', 'guarded-echo'], { data: platform.data, input: 'hello\n', terminals });
  const typed = 'portcullis: Type the message, then press Ctrl-D on an empty line.\n';
  expect(await chat(['stdin'])).toEqual({ code: 0, stdout: 'hello\n', stderr: typed });
  expect(await chat([])).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
});

test('portcullis activity still shows the other gateways, and names one that does not answer', async () => {
  const [first] = platform.status().addresses.gateways;
  const id = await ask(first, denied);
  process.kill(platform.pidOf('gateway-2'), 'SIGSTOP');
  try {
    const { items, missing } = await decisions('--request', id);
    expect(items).toHaveLength(1);
    expect(missing).toEqual(['gateway-2 does not answer.']);
    const overApi = await decisions('--request', id, '--via', 'api');
    expect(overApi.items).toHaveLength(1);
    expect(overApi.missing).toEqual(['gateway-2 does not answer.']);
  } finally {
    process.kill(platform.pidOf('gateway-2'), 'SIGCONT');
  }
  await until('both gateways answer again', async () => (await decisions()).missing.length === 0);
});

test('portcullis provider test --binding is run by every gateway replica, over both transports', async () => {
  for (const via of [[], ['--via', 'api']]) {
    const { code, stdout } = await run('provider', 'test', '--binding', 'guarded-echo', '--json', ...via);
    expect(code).toBe(0);
    const { items, missing } = JSON.parse(stdout) as { items: { replica: string; steps: object[] }[]; missing: [] };
    expect(missing).toEqual([]);
    expect(items.map(({ replica }) => replica).toSorted()).toEqual(['gateway-1', 'gateway-2']);
    expect(items[0]?.steps).toContainEqual({ step: 'model', state: 'ok' });
  }
});

test('kubectl portcullis provider test calls every gateway replica through the management API, and requires its address', async () => {
  using folder = folderWithFiles();
  const token = folder.write('token', (await run('token')).stdout);
  const plugin = (...args: readonly string[]) =>
    runToEnd(process.execPath, [join(checkout, 'cli/kubectl/main.ts'), 'provider', 'test', ...args], { cwd: checkout });
  const server = platform.status().addresses.management ?? '';
  const connection = ['--server', server, '--token-file', token];
  const tested = await plugin('--binding', 'guarded-echo', ...connection, '-o', 'json');
  const { items } = JSON.parse(tested.stdout) as { items: { replica: string; steps: object[] }[] };
  expect(items.map(({ replica }) => replica).toSorted()).toEqual(['gateway-1', 'gateway-2']);
  expect(await plugin('--binding', 'no-such-binding', ...connection)).toMatchObject({ code: 3, stdout: '' });
  const refused = await plugin('--binding', 'guarded-echo');
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('needs the option --server') });
});

test('get and why name a provider that becomes unavailable; it recovers without a restart when providers.yaml is corrected', async () => {
  const file = join(platform.data, 'providers.yaml');
  const before = readFileSync(file, 'utf8');
  const wide = async () => (await run('get', 'modelbindings', '-o', 'wide')).stdout;
  writeFileSync(file, before.replace(/"http:\/\/127[^"]*"/, '"http://127.0.0.1:1/v1"'));
  await until('get names the refused connection', async () =>
    /True +True +False .*ConnectionRefused/.test(await wide()),
  );
  const why = await run('why', 'guarded-echo');
  expect(why.stdout).toContain('its model cannot answer');
  expect(why.stdout).toContain('Endpoint: 127.0.0.1:1.');
  for (const via of [[], ['--via', 'api']]) {
    const failed = await run('provider', 'test', '--binding', 'guarded-echo', ...via);
    expect(failed.code).toBe(8);
    expect(failed.stderr).toContain('tcp FAILED');
  }
  writeFileSync(file, before);
  await until('the model answers again', async () => /True +True +True /.test(await wide()));
});
