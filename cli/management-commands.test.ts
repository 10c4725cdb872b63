import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { startFaultyProxy } from '#kit/testing/faulty-proxy';
import type { ProgramEnd } from '../e2e/support/run-to-end.ts';
import { type Platform, startCommand, startPlatform } from '../e2e/support/start-platform.ts';
import { until } from '../e2e/support/until.ts';
import { createManagementClient, type ManagementClient } from './management/client.ts';
import {
  ManagementAnswerError,
  ManagementApiError,
  ManagementUnreachableError,
} from './management/management-error.ts';
import { descendantsOf, isProcessRunning } from './testing/process-tree.ts';
import { folderWithFiles, runCli } from './testing/run-cli.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ management: true, environment: { PORTCULLIS_ADMINISTRATORS: 'root-admin' } });
});
afterAll(() => platform[Symbol.asyncDispose]());

const run = (args: readonly string[], input?: string): Promise<ProgramEnd> =>
  runCli(args, { data: platform.data, ...(input === undefined ? {} : { input }) });
async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await run([...args, '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** A policy that denies one word. */
function policyFile(name: string, word: string): string {
  const rule = {
    id: 'word',
    kind: 'stop_list',
    timeoutMs: 100,
    action: { type: 'deny' },
    stopList: { match: 'token', caseSensitive: false, terms: [word] },
  };
  const section = { deadlineMs: 500, baseline: [rule], additional: [] };
  return stringify({ name, definition: { request: section, response: section, providers: [] } });
}

async function createPolicy(name: string): Promise<string> {
  const { code, stdout, stderr } = await run(
    ['policy', 'create', '-f', '-', '--wait', '--json'],
    policyFile(name, name),
  );
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout).target.id;
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

  test('a key rotation with --revoke publishes only the new key', async () => {
    const { code, stdout } = await run(['token', 'rotate', '--revoke']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Published keys: 1.')]);
    const token = (await run(['token'])).stdout.trim();
    expect(await keysNow()).toEqual([kidOf(token)]);
    // Verifiers read the keys again for an unknown one after at most 30 s.
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
  const refused = await run(['policy', 'list', '--token-file', token, '--json']);
  expect([refused.code, JSON.parse(refused.stderr).error.message]).toEqual([
    1,
    'The subject does not have the permission control_plane:control-plane#administer.',
  ]);
});

test('a policy is created, read, edited, archived, restored and listed with portcullis policy', async () => {
  const id = await createPolicy('house-rules');
  const shown = await run(['policy', 'get', 'house-rules', '-o', 'yaml']);
  const policy = parse(shown.stdout);
  expect(policy).toMatchObject({ id, name: 'house-rules', revision: 1, status: 'draft', ruleKinds: ['stop_list'] });
  expect((await run(['policy', 'get', id])).stdout).toMatch(/Revision: +1\n/);

  const edited = stringify({ ...policy, description: 'second' });
  const saved = await run(['policy', 'update', id, '-f', '-', '--wait'], edited);
  expect(saved).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded, revision 2') });
  const late = await run(['policy', 'update', id, '-f', '-'], edited);
  expect(late).toMatchObject({
    code: 10,
    stderr: expect.stringContaining('was edited from revision 1, but the latest one is 2'),
  });

  expect((await run(['policy', 'archive', 'house-rules', '--wait'])).code).toBe(0);
  expect((await run(['policy', 'archive', 'house-rules'])).stdout).toContain('is archived already');
  expect(await json('policy', 'revision', id, '3')).toMatchObject({ revision: 3, status: 'archived' });
  const refused = await run(['binding', 'apply', 'guarded-echo', id, '2']);
  expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining('The policy is archived') });
  expect((await run(['policy', 'restore', 'house-rules', '--wait'])).code).toBe(0);

  const history = await json('policy', 'history', id);
  expect(history.items.map((one: { revision: number }) => one.revision)).toEqual([4, 3, 2, 1]);
  const page = await json('policy', 'history', id, '--limit', '2', '--before', '4');
  expect([page.items.length, page.nextBeforeRevision]).toEqual([2, 2]);
  const { items } = await json('policy', 'list');
  expect(items.map((one: { name: string }) => one.name)).toEqual(
    expect.arrayContaining(['house-rules', 'guarded-chat']),
  );
  const first = await json('policy', 'list', '--limit', '1');
  const second = await json('policy', 'list', '--limit', '1', '--cursor', first.nextCursor);
  expect([first.items.length, second.items.length]).toEqual([1, 1]);
  expect((await run(['policy', 'list', '--limit', '1'])).stdout).toContain(`More: --cursor ${first.nextCursor}`);
  expect((await run(['policy', 'list'])).stdout).toMatch(/^ID +NAME +REVISION +STATUS +RULES +UPDATED\n/);
});

test('portcullis applies, rolls back and unbinds a model after a confirmation, and the operation shows the result', async () => {
  const id = await createPolicy('applied-word');
  await run(['policy', 'update', id, '-f', '-', '--wait'], policyFile('applied-word', 'second'));
  const before = await json('binding', 'get', 'guarded-echo');
  expect(before).toMatchObject({ state: 'applied', gatewayName: 'default' });
  const accepted = await json('binding', 'apply', 'guarded-echo', 'applied-word');
  expect(accepted).toMatchObject({ kind: 'binding.apply' });
  const ended = await run(['operation', 'wait', accepted.operationId]);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('binding.apply of model') });
  expect(await json('operation', 'get', accepted.operationId)).toMatchObject({ state: 'succeeded' });
  expect(await json('binding', 'get', before.modelId)).toMatchObject({
    state: 'applied',
    binding: { policyId: id, policyRevision: 2 },
  });
  const say = (message: string) => run(['chat', 'guarded-echo', '--message', message]);
  expect((await say('second')).code).toBe(6);

  expect((await run(['binding', 'rollback', 'guarded-echo', '--wait'])).code).toBe(0);
  expect((await say('second')).code).toBe(0);
  expect((await say('applied-word')).code).toBe(6);
  const none = await run(['binding', 'rollback', 'guarded-echo']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('is already at revision 1') });
  const unconfirmed = await run(['binding', 'unbind', 'guarded-echo', '--wait']);
  expect(unconfirmed).toMatchObject({ code: 13, stdout: '' });
  expect(unconfirmed.stderr).toContain('The model guarded-echo would become UNGUARDED');
  expect((await json('binding', 'get', 'guarded-echo')).state).toBe('applied');
  expect((await run(['binding', 'unbind', 'guarded-echo', '--yes', '--wait'])).code).toBe(0);
  expect((await json('binding', 'get', 'guarded-echo')).state).toBe('unbound');
  expect((await run(['binding', 'get', 'guarded-echo'])).stdout).toMatch(
    /State: +unbound\nDesired: +UNGUARDED\nServing: +UNGUARDED\n/,
  );
  expect((await run(['get', 'mb', 'guarded-echo'])).stdout).toMatch(/ guarded-echo +UNGUARDED +- +UNGUARDED +True /);
  expect((await run(['status'])).stdout).toMatch(/\nguarded-echo +guarded-echo +- +- +UNGUARDED +UNGUARDED /);
  const why = (await run(['why', 'guarded-echo'])).stdout;
  expect(why).toContain('ModelBinding guarded-echo is UNGUARDED, as its spec declares');
  expect(why).toContain('Served now: UNGUARDED: requests and answers are not checked.');
  expect((await run(['binding', 'unbind', 'guarded-echo', '--wait'])).code).toBe(0);
});

test('portcullis binding rollback and unbind keep the content profile of the model', async () => {
  const older = 'gateway-1.5.0-text-webhook-v1';
  await createPolicy('kept-profile');
  await run(['policy', 'update', 'kept-profile', '-f', '-', '--wait'], policyFile('kept-profile', 'other'));
  const profile = async () => (await json('get', 'modelbinding', 'guarded-echo')).spec.contentProfile;
  const applied = await run(['binding', 'apply', 'guarded-echo', 'kept-profile', '--profile', older, '--wait']);
  expect([applied.code, await profile()]).toEqual([0, older]);
  const { modelId } = await json('binding', 'get', 'guarded-echo');
  expect((await run(['binding', 'rollback', modelId, '--wait'])).code).toBe(0);
  expect(await profile()).toBe(older);

  // The management API does not return the content profile, so that --server needs --profile.
  const token = join(platform.data, 'profile.token');
  writeFileSync(token, (await run(['token'])).stdout);
  const elsewhere = ['--server', platform.status().addresses.management ?? '', '--token-file', token];
  for (const command of [
    ['rollback', modelId, '--to', '2'],
    ['unbind', modelId],
  ]) {
    const refused = await run(['binding', ...command, ...elsewhere]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('name it with --profile') });
  }
  const unbound = await run(['binding', 'unbind', modelId, ...elsewhere, '--profile', older, '--yes', '--wait']);
  expect([unbound.code, await profile()]).toEqual([0, older]);
  expect((await run(['binding', 'apply', 'guarded-echo', 'kept-profile', '--wait'])).code).toBe(0);
  expect(await profile()).toBe('gateway-1.5.0-chat-webhook-v2');
  expect((await run(['binding', 'unbind', 'guarded-echo', '--yes', '--wait'])).code).toBe(0);
});

test('missing, ambiguous and invalid arguments have their exit codes and a remedy', async () => {
  const absent = '01890000-0000-7000-8000-000000000000';
  for (const words of [
    ['policy', 'get', absent],
    ['policy', 'get', 'nobody'],
    ['operation', 'get', absent],
  ]) {
    expect([words, (await run(words)).code]).toEqual([words, 3]);
  }
  expect((await run(['binding', 'get', 'nobody'])).code).toBe(3);
  await createPolicy('twice');
  await createPolicy('twice');
  expect(await run(['policy', 'get', 'twice'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('2 policies are named "twice": give one of the ids'),
  });
  const wrong = await run(['policy', 'create', '-f', '-'], 'name: -x\ndefinition: {}\n');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('standard input: ') });
  const manifest = await run(['policy', 'create', '-f', 'examples/guarded-chat/policy.yaml']);
  expect(manifest).toMatchObject({ code: 2, stderr: expect.stringContaining('this is a manifest') });
  const far = await run(['policy', 'list', '--server', 'http://portcullis.example']);
  expect(far.code).toBe(2);
  expect(await json('provider', 'list')).toEqual({ items: [] });
  expect((await run(['policy', 'test', 'examples/guarded-chat/policy.yaml'])).code).toBe(0);
});

test('a repeated idempotency key has one effect; another command with it is a conflict', async () => {
  const key = ['--idempotency-key', 'a-key-of-this-test'];
  const create = () => run(['policy', 'create', '-f', '-', '--json', ...key], policyFile('once', 'once'));
  const [first, second] = [JSON.parse((await create()).stdout), JSON.parse((await create()).stdout)];
  expect(second).toEqual(first);
  const other = await run(['policy', 'create', '-f', '-', ...key], policyFile('other', 'other'));
  expect(other).toMatchObject({ code: 10, stderr: expect.stringContaining('Idempotency-Key belongs to another') });
});

test('shell completion offers commands and the names of policies and bindings', async () => {
  const complete = async (...words: readonly string[]) => (await run(['__complete', ...words])).stdout.split('\n');
  expect(await complete('policy', '')).toEqual(
    expect.arrayContaining(['list', 'get', 'create', 'update', 'archive', 'restore', 'history', 'revision', 'test']),
  );
  await createPolicy('complete-me');
  expect(await complete('policy', 'get', 'compl')).toContain('complete-me');
  expect(await complete('binding', 'get', '')).toContain('guarded-echo');
});

describe('the client', () => {
  /** A proxy to the management API that drops the first answers after the command was carried out. */
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
    const { definition } = parse(policyFile('lossy', 'lossy'));
    const { target } = await client.createPolicy({ name: 'lossy', description: '', definition });
    expect(way.keys).toHaveLength(3);
    expect(new Set(way.keys).size).toBe(1);
    const { items } = await json('policy', 'list');
    expect(items.filter((one: { name: string }) => one.name === 'lossy')).toMatchObject([{ id: target.id }]);
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
  const id = await createPolicy('survivor');
  const { addresses } = platform.status();
  for (const name of ['management', 'issuer', 'postgres']) {
    const pid = platform.pidOf(name);
    process.kill(pid, 'SIGKILL');
    await until(`${name} serves again`, () => platform.status().ready && platform.pidOf(name) !== pid);
    expect(platform.status().addresses).toEqual(addresses);
    const again = await until('the policy is read', async () => {
      const { code, stdout } = await run(['policy', 'get', id, '--json']);
      return code === 0 ? JSON.parse(stdout) : undefined;
    });
    expect(again).toMatchObject({ id, revision: 1 });
  }
});

describe('a start', () => {
  test('a restart of the platform finds earlier operations and administrators, and a stop leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data, management: true });
    const words = ['policy', 'create', '-f', '-', '--wait', '--json'];
    const { operationId } = JSON.parse((await runCli(words, { data, input: policyFile('kept', 'kept') })).stdout);
    const { management, issuer } = first.status().addresses;
    expect(await first.end('SIGINT')).toBe(0);
    for (const url of [management, issuer]) expect(await isOpen(url ?? '')).toBe(false);
    expect(readFileSync(join(data, 'logs/postgres.log'), 'utf8')).toContain('received fast shutdown request');
    await using again = await startPlatform({ data, management: true });
    expect(again.status().addresses.issuer).toBe(issuer);
    const found = await runCli(['operation', 'get', operationId, '--json'], { data });
    expect(JSON.parse(found.stdout)).toMatchObject({ operationId, state: 'succeeded' });
  });

  test('a start of the platform after kill -9 finds every write and ends the leftover database server', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data, management: true });
    const words = ['policy', 'create', '-f', '-', '--wait', '--json'];
    const { operationId } = JSON.parse((await runCli(words, { data, input: policyFile('kept', 'kept') })).stdout);
    const left = descendantsOf(first.status().pid);
    expect(await first.end('SIGKILL')).toBe('SIGKILL');
    await using again = await startPlatform({ data, management: true });
    expect(left.filter(isProcessRunning)).toEqual([]);
    expect(again.status().managementOff).toBeUndefined();
    const found = await runCli(['operation', 'get', operationId, '--json'], { data });
    expect(JSON.parse(found.stdout)).toMatchObject({ operationId, state: 'succeeded' });
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
    expect(await runCli(['policy', 'list'], { data })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('The management API of'),
    });
  });
});

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
