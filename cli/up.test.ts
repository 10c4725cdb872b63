import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { type Platform, startCommand, startPlatform } from '../e2e/support/start-platform.ts';
import { isLocked } from './platform/lock.ts';
import { descendantsOf, isProcessRunning } from './testing/process-tree.ts';
import { folderWithFiles } from './testing/run-cli.ts';

const openai = ({ status, key }: Platform) =>
  new OpenAI({ baseURL: `${status().addresses.gateway}/v1`, apiKey: key, maxRetries: 0 });

async function streamedEcho(platform: Platform, content: string): Promise<string> {
  const stream = await openai(platform).chat.completions.create({
    model: 'guarded-echo',
    messages: [{ role: 'user', content }],
    stream: true,
  });
  const chunks = await Array.fromAsync(stream);
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}

/** Runs `up` on a folder until it exits, and returns its output. */
async function upToItsEnd(data: string, ...more: readonly string[]): Promise<{ code: unknown; output: string }> {
  const child = startCommand(['up', '--data', data, '--port', '0', ...more]);
  return { code: await child.exit(), output: child.output() };
}

/** Names of processes and their arguments, as a list of processes shows them. */
function titlesOf(pids: readonly number[]): readonly string[] {
  const rows = execFileSync('ps', ['-o', 'args=', '-p', pids.join(',')], { encoding: 'utf8' });
  return rows
    .trimEnd()
    .split('\n')
    .map((row) => row.trimEnd())
    .toSorted();
}

const mode = (path: string): number => statSync(path).mode & 0o777;

describe('a start', () => {
  test('portcullis up on an empty folder serves the example, protects secrets, refuses a second start, and leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'deep/data');
    await using platform = await startPlatform({ data, gateways: 2 });
    const status = platform.status();
    expect(status.addresses.gateways).toHaveLength(2);
    expect(status.addresses.gateway).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(readFileSync(status.clientKeyFile, 'utf8')).toMatch(/^pk-\S{40,} default\n$/);
    for (const private_ of ['tokens', 'secrets', 'run', 'logs', '']) expect(mode(join(data, private_))).toBe(0o700);
    for (const name of readdirSync(join(data, 'tokens'))) expect(mode(join(data, 'tokens', name))).toBe(0o600);
    expect(readdirSync(join(data, 'apply'))).toEqual(expect.arrayContaining(['binding.yaml', 'policy.yaml']));
    const models = await openai(platform).models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['guarded-echo']);
    expect(await streamedEcho(platform, 'Доброе утро')).toBe('Доброе утро');
    for (const step of ['gateway  ', 'client key file', 'chat guarded-echo', 'get modelbindings']) {
      expect(platform.output()).toContain(step);
    }

    const second = await upToItsEnd(data);
    expect(second.code).toBe(11);
    expect(second.output).toContain(`Another platform (process ${status.pid}) runs on ${data}: stop it with Ctrl-C`);

    const children = descendantsOf(status.pid);
    expect(children.length).toBeGreaterThanOrEqual(5);
    const shown = ['gateway', 'gateway', 'operator', 'echo'].map((name) => `portcullis-${name} ${data}`);
    expect(titlesOf([status.pid, ...children])).toEqual(
      [`portcullis-up ${data}`, 'portcullis-runtime', ...shown].toSorted(),
    );
    expect(await platform.end('SIGINT')).toBe(0);
    expect(children.filter(isProcessRunning)).toEqual([]);
    expect(existsSync(join(data, 'status.json'))).toBe(false);
    expect(readdirSync(join(data, 'run'))).toEqual([]);
    expect(isLocked(join(data, 'lock'))).toBe(false);
  });

  test('a restart of the platform after a shutdown finds everything unchanged', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data });
    const before = await first.client.get(kinds.modelBinding, 'guarded-echo');
    const key = first.key;
    expect(await first.end('SIGTERM')).toBe(0);
    writeFileSync(join(data, 'apply/note.txt'), 'not a manifest');
    await using again = await startPlatform({ data });
    const after = await again.client.get(kinds.modelBinding, 'guarded-echo');
    expect(after?.metadata).toMatchObject({ uid: before?.metadata.uid, generation: before?.metadata.generation });
    expect(after?.spec).toEqual(before?.spec);
    expect(again.key).toBe(key);
    expect(await streamedEcho(again, 'still here')).toBe('still here');
  });

  test('a start of the platform after kill -9 recovers immediately, even with a suspended leftover process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const first = await startPlatform({ data });
    const left = descendantsOf(first.status().pid);
    process.kill(first.pidOf('gateway-1'), 'SIGSTOP');
    expect(await first.end('SIGKILL')).toBe('SIGKILL');
    await using again = await startPlatform({ data });
    expect(left.filter(isProcessRunning)).toEqual([]);
    expect(await streamedEcho(again, 'back')).toBe('back');
    expect(await again.end('SIGKILL')).toBe('SIGKILL');
    await using third = await startPlatform({ data });
    expect(await streamedEcho(third, 'and again')).toBe('and again');
  });

  test('a start that was killed while it created its data directory is completed by the next one', async () => {
    using folder = folderWithFiles();
    for (const waitMs of [0, 60, 120, 200]) {
      const data = join(folder.path, `data-${waitMs}`);
      const child = startCommand(['up', '--data', data, '--port', '0']);
      await until('the folder exists', () => existsSync(data), { everyMs: 1 });
      const killed = setTimeout(() => child.signal('SIGKILL'), waitMs);
      await child.exit();
      clearTimeout(killed);
      await using platform = await startPlatform({ data });
      expect(await streamedEcho(platform, 'whole')).toBe('whole');
    }
  });

  test('an interrupted start of the platform leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const child = startCommand(['up', '--data', data, '--port', '0']);
    await until('a process was started', () => readdirSync(join(data, 'run')).length > 0, { everyMs: 1 });
    const children = descendantsOf(child.pid ?? 0);
    child.signal('SIGINT');
    child.signal('SIGINT');
    expect(await child.exit()).toBe(0);
    expect(children.filter(isProcessRunning)).toEqual([]);
    expect(child.output()).toContain('stopped');
  });

  test('a start with a used port or an invalid list of providers reports it and leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const busy = await upToItsEnd(data, '--port', String(port));
    other.close();
    expect(busy).toMatchObject({
      code: 11,
      output: expect.stringContaining(`Port ${port} is used by another program`),
    });
    writeFileSync(join(data, 'providers.yaml'), 'providers:\n  - { name: echo, kind: modle }\n');
    const wrong = await upToItsEnd(data);
    expect(wrong).toMatchObject({
      code: 2,
      output: expect.stringMatching(/providers\.yaml: line 2, column \d+: providers\[0\]/),
    });
    writeFileSync(join(data, 'providers.yaml'), 'providers: [\n');
    expect(await upToItsEnd(data)).toMatchObject({ code: 2, output: expect.stringContaining('providers.yaml: line ') });
    expect(readdirSync(join(data, 'run'))).toEqual([]);
  });

  test('npm start refuses an option that npm did not pass on', async () => {
    using folder = folderWithFiles();
    const child = startCommand(['up', '--data', join(folder.path, 'data')], {
      npm_lifecycle_event: 'start',
      npm_config_port: '8090',
    });
    expect(await child.exit()).toBe(2);
    expect(child.output()).toContain(
      'npm kept these options for itself: --port. Write two dashes before them: npm start -- --port 8090',
    );
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });

  test('npm start refuses an option without a value, and a value that npm took for an argument', async () => {
    const npm = { npm_lifecycle_event: 'start' };
    const services = startCommand(['up'], { ...npm, npm_config_retrieval: 'true', npm_config_management: '' });
    expect(await services.exit()).toBe(2);
    expect(services.output()).toContain('dashes before them: npm start -- --no-management --retrieval\n');
    const port = startCommand(['up', '8090'], { ...npm, npm_config_port: 'true' });
    expect(await port.exit()).toBe(2);
    expect(port.output()).toContain('dashes before them: npm start -- --port 8090\n');
  });

  test('a start whose process fails names the process and the cause, and leaves no process', async () => {
    using folder = folderWithFiles();
    const data = join(folder.path, 'data');
    const words = ['up', '--data', data, '--port', '0'];
    const child = startCommand(words, { PORTCULLIS_PROGRESS_DEADLINE_SECONDS: '0' });
    expect(await child.exit()).toBe(1);
    expect(child.output()).toContain(
      'The process operator ended with exit code 2 before it served: operator: PORTCULLIS_PROGRESS',
    );
    expect(readdirSync(join(data, 'run'))).toEqual([]);
    expect(isLocked(join(data, 'lock'))).toBe(false);
  });
});

test('a killed process is restarted at its address, and the platform reports it', async () => {
  await using platform = await startPlatform({ address: '0.0.0.0' });
  const { addresses } = platform.status();
  const isOpen = () => fetch(`${addresses.gateway.replace('127.0.0.1', '127.0.0.2')}/v1/models`).then(({ ok }) => !ok);
  for (const name of ['gateway-1', 'operator', 'echo']) {
    const pid = platform.pidOf(name);
    process.kill(pid, 'SIGKILL');
    await until(`${name} serves again`, () => platform.status().ready && platform.pidOf(name) !== pid);
    expect(platform.output()).toContain(`${name} was ended by SIGKILL; restarting it in 0.25 s`);
    const answer = await until('a chat is answered', () => streamedEcho(platform, `after ${name}`));
    expect(answer).toBe(`after ${name}`);
    expect(platform.status().addresses).toEqual(addresses);
    // Only Linux answers on all addresses of the loopback network.
    if (process.platform === 'linux') expect(await isOpen()).toBe(true);
  }
});

test('a start with an address that is not an IP address, or that belongs to another machine, names the address', async () => {
  using folder = folderWithFiles();
  const data = join(folder.path, 'data');
  const name = await upToItsEnd(data, '--address', 'localhost');
  expect(name).toMatchObject({ code: 2, output: expect.stringContaining('It must be an IP address') });
  const other = await upToItsEnd(data, '--address', '192.0.2.1');
  expect(other).toMatchObject({ code: 1, output: expect.stringContaining('192.0.2.1') });
});

test('a process is restarted even if its note, its log or the status file cannot be written', async () => {
  await using platform = await startPlatform();
  const { data } = platform;
  const run = join(data, 'run');
  const note = join(run, 'gateway-1.json');
  const said = (sentence: string) => until(sentence, () => platform.output().includes(sentence));
  const noted = () => until('it is noted', () => readFileSync(note, 'utf8').includes(`${platform.pidOf('gateway-1')}`));
  async function endGateway(meanwhile: () => void | Promise<void> = () => undefined): Promise<void> {
    const pid = platform.pidOf('gateway-1');
    process.kill(pid, 'SIGKILL');
    await meanwhile();
    await until('it serves again', () => platform.status().ready && platform.pidOf('gateway-1') !== pid);
    expect(await until('a chat is answered', () => streamedEcho(platform, 'still guarded'))).toBe('still guarded');
  }

  rmSync(run, { recursive: true });
  await endGateway();
  await noted();

  rmSync(run, { recursive: true });
  writeFileSync(run, 'in the way');
  await endGateway();
  await said(`${note} cannot be written; retrying every second`);
  await endGateway();
  rmSync(run);
  await noted();

  const logs = join(data, 'logs');
  renameSync(logs, `${logs}.away`);
  writeFileSync(logs, 'in the way');
  await endGateway(async () => {
    await said('gateway-1 could not be started (EEXIST); restarting it in ');
    rmSync(logs);
    renameSync(`${logs}.away`, logs);
  });

  rmSync(run, { recursive: true });
  writeFileSync(run, 'in the way');
  const status = join(data, 'status.json');
  await endGateway(async () => {
    rmSync(status);
    mkdirSync(join(status, 'in-the-way'), { recursive: true });
    await said(`${status} cannot be written; retrying`);
    await until('a chat is answered', () => streamedEcho(platform, 'no status'));
    rmSync(status, { recursive: true });
    await until('the status is written', () => statSync(status).isFile());
  });

  const children = descendantsOf(platform.pid);
  expect(children.length).toBeGreaterThanOrEqual(4);
  expect(await platform.end('SIGTERM')).toBe(0);
  expect(children.filter(isProcessRunning)).toEqual([]);
  expect(platform.output()).toContain('stopped');
});
