import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileReference } from '#contracts/file-reference';
import { createByteBudget } from '#kit/http/byte-budget';
import { createLogger } from '#kit/log/logger';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createCallFiles } from '../files/call-files.ts';
import { openTemporaryFiles } from '../files/temporary-files.ts';
import { fileAgentBundle } from '../testing/file-agent.ts';
import { type FileWorld, fileUse, openFolderWorld, openServiceWorld } from '../testing/file-world.ts';
import { errorCodeOf, type RunningAgent, startAgent } from '../testing/start-agent.ts';

const mebibytes = 1_048_576;
const maxBytes = 16 * mebibytes;

let world: FileWorld;
beforeAll(async () => {
  world = await openServiceWorld();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** A version whose calls may each hold 16 MiB of files, and wait for room for this time. */
const startReader = (waitMs: number): Promise<RunningAgent> =>
  startAgent({
    bundle: fileAgentBundle({
      manifest: { files: { enabled: true, mediaTypes: ['text/plain', 'application/pdf'], maxBytes } },
    }),
    config: { files: world.place },
    fileServiceToken: String(world.token),
    fileTimes: { checkMs: 60_000, readMs: 60_000, waitMs },
  });

const messageWith = (file: FileReference): object => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', contextId: fileUse.session, parts: [{ data: { file } }] },
});
const send = (agent: RunningAgent, file: FileReference) => agent.call('POST', '/message:send', messageWith(file));

/** A reference to a file of this size, which has no text. */
async function fileOf(size: number): Promise<FileReference> {
  const content = Buffer.alloc(size);
  content.write('%PDF-');
  return world.mint(world.add(content, { name: 'page.pdf', mediaType: 'application/pdf' }));
}
const small = async (): Promise<FileReference> => world.mint(world.add('x'));

/**
 * Sends calls with files of these sizes, whose downloads have started and send no bytes. @returns a function that ends
 * the downloads
 */
async function hold(agent: RunningAgent, sizes: readonly number[]): Promise<() => Promise<void>> {
  const open: ServerResponse[] = [];
  world.service?.sendInstead((outgoing) => void open.push(outgoing));
  const calls: ReturnType<typeof send>[] = [];
  for (const [at, size] of sizes.entries()) {
    calls.push(send(agent, await fileOf(size)));
    await until('its download has begun', () => open.length === at + 1);
  }
  world.service?.sendInstead(undefined);
  return async () => {
    for (const outgoing of open) outgoing.destroy();
    for (const call of calls) expect(errorCodeOf(await call)).toBe('file_provider_mapping_failed');
  };
}

test('a call whose files exceed the free budget of the process is refused before a download, and a call that fits is answered', async () => {
  await using agent = await startReader(20);
  const end = await hold(agent, [maxBytes, maxBytes]);
  const downloads = world.service?.counts.downloads;
  const refused = await send(agent, await small());
  expect([refused.status, errorCodeOf(refused)]).toEqual([429, 'too_many_runs']);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(world.service?.counts.downloads).toBe(downloads);
  await end();
  expect((await send(agent, await small())).status).toBe(200);
  const endOthers = await hold(agent, [maxBytes, maxBytes - 1]);
  expect((await send(agent, await small())).status).toBe(200);
  await endOthers();
});

test('a call waits for room until files of other calls are released, and releases its place when its client leaves', async () => {
  await using agent = await startReader(600_000);
  const runs = async (): Promise<unknown> =>
    ((await (await fetch(`${agent.adminUrl}/state`)).json()) as { runs: number }).runs;
  const end = await hold(agent, [maxBytes, maxBytes]);
  const waiting = send(agent, await small());
  const leaving = new AbortController();
  const left = fetch(`${agent.url}/message:send`, {
    method: 'POST',
    headers: { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' },
    body: JSON.stringify(messageWith(await small())),
    signal: leaving.signal,
  }).catch(() => undefined);
  await until('both wait', async () => (await runs()) === 4);
  leaving.abort();
  await left;
  await until('the place is free', async () => (await runs()) === 3);
  await end();
  expect((await waiting).status).toBe(200);
});

test('the text of a file counts in the budget until its run ends, and a stored copy does not count', async () => {
  await using files = await openFolderWorld();
  using folder = temporaryFolder();
  const budget = createByteBudget({ limit: 20, largest: 10, waitMs: 1 });
  const provider = await openTemporaryFiles(folder.path);
  const open = (...uses: readonly ('text' | 'provider')[]) =>
    createCallFiles({
      budget,
      access: files.access,
      provider,
      rules: { mediaTypes: ['text/plain'], maxBytes: 20, uses: new Set(uses) },
      logger: createLogger({ service: 'agent', level: 'error', destination: { write: () => undefined } }),
    });
  const resolve = async (calls: ReturnType<typeof open>, runId: string, ...contents: readonly string[]) => {
    const data = await Promise.all(contents.map(async (content) => ({ ...(await files.mint(files.add(content))) })));
    return await calls.resolve([{ kind: 'data', data }], { ...fileUse, runId }, AbortSignal.timeout(60_000));
  };
  const [texts, both, copies] = [open('text'), open('text', 'provider'), open('provider')];
  await resolve(texts, 'one', 'a'.repeat(6), 'b'.repeat(4));
  expect(budget.taken).toBe(10);
  await resolve(both, 'two', 'c'.repeat(9));
  expect(budget.taken).toBe(19);
  await expect(resolve(texts, 'three', 'dd')).rejects.toMatchObject({ code: 'too_many_runs' });
  await texts.end('three');
  await resolve(copies, 'four', 'd');
  expect(budget.taken).toBe(19);
  await texts.end('one');
  expect(budget.taken).toBe(9);
  await resolve(texts, 'five', 'dd');
  for (const one of ['five', 'five', 'unknown']) await texts.end(one);
  for (const [calls, runId] of [
    [both, 'two'],
    [copies, 'four'],
  ] as const)
    await calls.end(runId);
  expect(budget.taken).toBe(0);
});

test('files that were refused or could not be read hold no bytes of the budget', async () => {
  await using files = await openFolderWorld();
  using folder = temporaryFolder();
  const budget = createByteBudget({ limit: 20, largest: 10, waitMs: 1 });
  const calls = createCallFiles({
    budget,
    access: files.access,
    provider: await openTemporaryFiles(folder.path),
    rules: { mediaTypes: ['text/plain'], maxBytes: 20, uses: new Set(['text'] as const) },
    logger: createLogger({ service: 'agent', level: 'error', destination: { write: () => undefined } }),
  });
  const file = files.add('content');
  const forged = { ...(await files.mint(file)), size: 8 };
  const resolve = (data: object, runId: string) =>
    calls.resolve([{ kind: 'data', data: { ...data } }], { ...fileUse, runId }, AbortSignal.timeout(60_000));
  await expect(resolve(forged, 'one')).rejects.toMatchObject({ code: 'file_refused' });
  expect(budget.taken).toBe(0);
  writeFileSync(join(files.root, 'files', file.id), 'changed');
  await expect(resolve(await files.mint(file), 'two')).rejects.toMatchObject({ code: 'file_refused' });
  await calls.end('two');
  expect(budget.taken).toBe(0);
});
