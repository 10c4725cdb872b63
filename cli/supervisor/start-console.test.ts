import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { dataDirectory } from '#contracts/data-directory';
import type { ReadyLine } from '#kit/process/ready';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { findLastingPort } from './free-port.ts';
import type { ChildSpec } from './platform-processes.ts';
import { startConsole } from './start-console.ts';
import { StartFailure } from './supervise.ts';

/** Starts servers in this process that replace the processes. */
function fakeProcesses(fails: Partial<Record<string, number>>) {
  const started: string[] = [];
  const servers = new AsyncDisposableStack();
  const start = async ({ name, env }: ChildSpec): Promise<ReadyLine> => {
    const left = fails[name] ?? 0;
    fails[name] = left - 1;
    if (left > 0) throw new StartFailure(name, 'exited with code 1', '');
    started.push(name);
    const port = Number(new URL(`http://${env['PORTCULLIS_LISTEN']}`).port);
    const server = createServer((_request, response) => void response.end(name)).listen(port, '127.0.0.1');
    servers.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return { listening: `http://127.0.0.1:${port}` };
  };
  return { started, start, [Symbol.asyncDispose]: () => servers.disposeAsync() };
}

async function open(processes: ReturnType<typeof fakeProcesses>, mode: 'at start' | 'at the first visit') {
  const folder = temporaryFolder();
  const ports = new Map<string, number>();
  for (const name of ['console', 'console admin', 'signin'])
    ports.set(name, await findLastingPort([...ports.values()]));
  const said: string[] = [];
  const stopping = new AbortController();
  const found = await startConsole(processes.start, dataDirectory(folder.path), mode, {
    ports: { of: (name) => ports.get(name) ?? 0 },
    administrators: [],
    say: (sentence) => said.push(sentence),
    signal: stopping.signal,
    gateway: 'http://127.0.0.1:1',
    management: 'http://127.0.0.1:2',
    retrieval: undefined,
    memory: undefined,
    catalogue: undefined,
  });
  return {
    found,
    said,
    ports,
    [Symbol.dispose]() {
      found.console?.close();
      folder[Symbol.dispose]();
    },
  };
}

test.each(['signin', 'console'])(
  'a failed start of %s is answered 503, and the next visit starts only this process',
  async (failing) => {
    await using processes = fakeProcesses({ [failing]: 1 });
    using world = await open(processes, 'at the first visit');
    const url = world.found.console?.url ?? '';
    expect(processes.started).toEqual([]);
    expect((await fetch(url, { headers: { connection: 'close' } })).status).toBe(503);
    expect(world.said).toEqual([
      `the console cannot start: The process ${failing} exited with code 1 before it served.`,
    ]);
    expect(await (await fetch(url)).text()).toBe('console');
    expect(processes.started.toSorted()).toEqual(['console', 'signin']);
  },
);

test('a process whose port another program took since the start of the platform gets another port', async () => {
  await using processes = fakeProcesses({});
  using world = await open(processes, 'at the first visit');
  const other = createServer().listen(world.ports.get('signin'), '127.0.0.1');
  expect(await (await fetch(world.found.console?.url ?? '')).text()).toBe('console');
  other.close();
});

test('status reports a failed start of the console as the reason why it is off', async () => {
  await using processes = fakeProcesses({ console: 1 });
  using world = await open(processes, 'at start');
  expect(world.found).toEqual({ consoleOff: 'The process console exited with code 1 before it served.' });
});
