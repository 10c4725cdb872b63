import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { createLogger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { until } from '#kit/testing/until';
import { sampleBundle } from '../../../../e2e/support/sample-policy.ts';
import type { Workloads } from '../../ports.ts';
import { createProcesses } from './processes.ts';

const root = join(import.meta.dirname, '../../../..');
const destination = { write: (line: string) => void lines.push(line) };
const logger = createLogger({ service: 'test', level: 'info', destination });

let folder: string;
let workloads: Workloads;
let changes: string[];
let lines: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-processes-'));
  for (const name of ['bundles', 'logs', 'run', 'secrets']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'runtime.token'), 'a-token\n');
  changes = [];
  lines = [];
  workloads = start();
});
afterEach(async () => {
  await workloads[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function start(runtimeFile = join(root, 'runtime/main.ts')): Workloads {
  const created = createProcesses({
    runtimeFile,
    build: 'b1',
    bundlesDirectory: join(folder, 'bundles'),
    logsDirectory: join(folder, 'logs'),
    runDirectory: join(folder, 'run'),
    secretsDirectory: join(folder, 'secrets'),
    tokenFile: join(folder, 'runtime.token'),
    inherited: childEnvironment(),
    logger,
    retireMs: 5_000,
  });
  created.onChange((name) => changes.push(name));
  return created;
}

async function storedBundle(): Promise<string> {
  const bytes = canonicalBytes(sampleBundle());
  await writeFile(join(folder, 'bundles', `${sha256Hex(bytes)}.json`), bytes);
  return sha256Hex(bytes);
}

function ensure(digest: string, replicas = 1, addresses: readonly string[] = []): void {
  const manifest = workloads.render({ name: 'g-one', digest, build: 'b1', providers: [] });
  workloads.ensure({ name: 'g-one', uid: 'one', digest, build: 'b1', manifest, replicas, addresses });
}

function ready(count: number): Promise<readonly string[]> {
  return until(`${count} processes are ready`, () => {
    const { ready: now, addresses } = workloads.observe('g-one');
    return now === count ? addresses : undefined;
  });
}

async function isUp(address: string): Promise<boolean> {
  return fetch(new URL('/readyz', address)).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** Process ids of the log, newest last. */
function pids(): readonly number[] {
  return lines.flatMap((line) => {
    const { event, pid } = JSON.parse(line) as { readonly event: string; readonly pid?: number };
    return event === 'runtime_started' && pid !== undefined ? [pid] : [];
  });
}

function occupy(address: string): Promise<Server> {
  const server = createServer();
  return once(server.listen(Number(new URL(address).port), '127.0.0.1'), 'listening').then(() => server);
}

describe('local processes', () => {
  test('a workload runs its bundle in as many processes as requested, which drain before they end', async () => {
    ensure(await storedBundle(), 2);
    const addresses = await ready(2);
    expect(new Set(addresses).size).toBe(2);
    expect(changes).toContain('g-one');
    expect(workloads.has('g-one')).toBe(true);
    workloads.remove('g-one');
    expect(workloads.has('g-one')).toBe(false);
    await until('the second process has ended', async () => !(await isUp(addresses[1] ?? '')));
    await until('the first process has ended', async () => !(await isUp(addresses[0] ?? '')));
    expect(workloads.observe('g-one')).toEqual({ addresses: [], ready: 0, problem: undefined });
  });

  test('a surplus process keeps serving until gateways no longer use its address', async () => {
    const digest = await storedBundle();
    ensure(digest, 2);
    const [first = '', second = ''] = await ready(2);
    let failures = 0;
    let served = 0;
    let led: readonly string[] = [first, second];
    const stop = new AbortController();
    const load = (async () => {
      while (!stop.signal.aborted) {
        for (const address of led) {
          if (await isUp(address)) served += 1;
          else failures += 1;
        }
      }
    })();
    ensure(digest, 1);
    expect(workloads.observe('g-one')).toMatchObject({ addresses: [first], ready: 1 });
    // Gateways still use the previous address for a moment.
    const before = served;
    await until('both processes have served more checks', () => served > before + 20);
    led = [first];
    await until('the second process has ended', async () => !(await isUp(second)));
    stop.abort();
    await load;
    expect(failures).toBe(0);
  });

  test('a surplus process is used again when replicas are raised', async () => {
    const digest = await storedBundle();
    ensure(digest, 2);
    const addresses = await ready(2);
    ensure(digest, 1);
    ensure(digest, 2);
    expect(workloads.observe('g-one').addresses).toEqual(addresses);
    expect(pids()).toHaveLength(2);
  });

  test('a killed process is restarted at the same address', async () => {
    ensure(await storedBundle());
    const [address = ''] = await ready(1);
    process.kill(pids().at(-1) ?? 0, 'SIGKILL');
    const problem = await until('the exit is observed', () => workloads.observe('g-one').problem);
    expect(problem).toEqual({ reason: 'ProcessEnded', message: 'ended by SIGKILL' });
    expect(workloads.observe('g-one').addresses).toEqual([address]);
    expect(await ready(1)).toEqual([address]);
    expect(await isUp(address)).toBe(true);
    expect(new Set(pids()).size).toBe(2);
    expect(workloads.observe('g-one').problem).toBeUndefined();
  });

  test('a frozen process is reported as not answering, and as ready when it answers again', async () => {
    ensure(await storedBundle());
    await ready(1);
    const pid = pids().at(-1) ?? 0;
    process.kill(pid, 'SIGSTOP');
    try {
      const observed = await until('the silence is observed', () => {
        const found = workloads.observe('g-one');
        return found.problem === undefined ? undefined : found;
      });
      expect(observed).toMatchObject({
        ready: 0,
        problem: { reason: 'ReplicaNotAnswering', message: 'a process does not answer' },
      });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await ready(1);
    expect(workloads.observe('g-one').problem).toBeUndefined();
    expect(pids()).toEqual([pid]);
  });

  test('a new operator starts the processes at their previous addresses', async () => {
    const digest = await storedBundle();
    ensure(digest);
    const addresses = await ready(1);
    await workloads[Symbol.asyncDispose]();
    workloads = start();
    ensure(digest, 1, addresses);
    expect(workloads.observe('g-one').addresses).toEqual(addresses);
    expect(await ready(1)).toEqual(addresses);
  });

  test('a process uses another port if its previous one is in use', async () => {
    const digest = await storedBundle();
    ensure(digest);
    const [address = ''] = await ready(1);
    await workloads[Symbol.asyncDispose]();
    const server = await occupy(address);
    workloads = start();
    ensure(digest, 1, [address]);
    const [other] = await ready(1);
    expect(other).not.toBe(address);
    server.close();
  });

  test('a process that cannot load its bundle reports its termination message', async () => {
    const digest = 'a'.repeat(64);
    await writeFile(join(folder, 'bundles', `${digest}.json`), '{}');
    workloads = start(join(import.meta.dirname, 'testing', 'refusing-runtime.ts'));
    ensure(digest);
    const problem = await until('the reason is observed', () => workloads.observe('g-one').problem);
    expect(problem.message).toBe('the rule forbidden does not compile');
    expect(workloads.observe('g-one')).toMatchObject({ ready: 0, addresses: [] });
  });

  test('a workload of another build or with a manifest of a cluster is refused', () => {
    const identity = { name: 'g-one', digest: 'a'.repeat(64) };
    const of = (build: string) => ({ build, manifest: workloads.render({ ...identity, build, providers: [] }) });
    const request = { ...identity, uid: 'one', replicas: 1, addresses: [] };
    expect(workloads.canRun(of('b1'))).toBe(true);
    for (const other of [of('b0'), { ...of('b1'), build: 'b0' }, { build: 'b1', manifest: '{"kind":"Deployment"}' }]) {
      expect(workloads.canRun(other)).toBe(false);
      expect(() => workloads.ensure({ ...request, ...other })).toThrow(TypeError);
    }
    expect(workloads.has('g-one')).toBe(false);
  });
});

test('runtime processes end with the operator, even when it is killed', async () => {
  const digest = await storedBundle();
  const parent = execFile(process.execPath, [
    join(import.meta.dirname, 'testing', 'hold-processes.ts'),
    folder,
    digest,
  ]);
  let output = '';
  parent.stdout?.on('data', (text: string) => {
    output += text;
  });
  const address = await until('the child is ready', () => /http:\S+/.exec(output)?.[0]);
  expect(await isUp(address)).toBe(true);
  parent.kill('SIGKILL');
  await until('the child process has ended', async () => !(await isUp(address)));
});
