import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { v4 as uuid } from 'uuid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { flowLimits } from '#contracts/flow-limits';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { verifies } from '../../../e2e/support/verifies.ts';
import { openTemporaryFiles } from '../files/temporary-files.ts';
import type { BundleParts } from '../testing/agent-bundle.ts';
import { fileAgentBundle, fileMaxBytes, readingFlow } from '../testing/file-agent.ts';
import { type FileWorld, fileUse, openFolderWorld, openServiceWorld } from '../testing/file-world.ts';
import { errorCodeOf, type RunningAgent, startAgent } from '../testing/start-agent.ts';

let world: FileWorld;
let agent: RunningAgent;
beforeAll(async () => {
  world = await openServiceWorld();
  agent = await startAgent({
    bundle: fileAgentBundle(),
    config: { files: world.place },
    fileServiceToken: String(world.token),
    fileTimes: { checkMs: 5_000, readMs: 2_000 },
  });
});
afterAll(async () => {
  await agent?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});
beforeEach(() => world.service?.sendInstead(undefined));

const send = (file: unknown, to = agent) =>
  to.call('POST', '/message:send', {
    message: { messageId: 'm-1', role: 'ROLE_USER', contextId: fileUse.session, parts: [{ data: { file } }] },
  });
const runsOf = async (one = agent): Promise<number> =>
  ((await (await fetch(`${one.adminUrl}/runs`)).json()) as { runs: unknown[] }).runs.length;
const folderOf = (versionId: string): string => join(tmpdir(), `portcullis-files-${versionId}`);

verifies(
  ['fileref:adapter:size-bound'],
  'a download with more or fewer bytes than its file reference states is refused, and one with exactly as many is read',
  async () => {
    const file = world.add('x'.repeat(fileMaxBytes));
    const runs = await runsOf();
    let isEnded = false;
    world.service?.sendInstead((outgoing) => {
      outgoing.once('close', () => {
        isEnded = true;
      });
      const more = (): void => {
        if (!outgoing.destroyed) outgoing.write(Buffer.alloc(65_536, 'x'), () => setImmediate(more));
      };
      more();
    });
    expect(errorCodeOf(await send(await world.mint(file)))).toBe('file_refused');
    await until('the run has ended', () => isEnded);
    for (const [bytes, status] of [
      [fileMaxBytes + 1, 403],
      [fileMaxBytes - 1, 403],
      [fileMaxBytes, 200],
    ] as const) {
      world.service?.sendInstead((outgoing) => outgoing.end(Buffer.alloc(bytes, 'x')));
      expect([bytes, (await send(await world.mint(file))).status]).toEqual([bytes, status]);
    }
    expect(await runsOf()).toBe(runs + 1);
  },
);

verifies(
  ['fileref:adapter:time-bound'],
  'a download that exceeds its time limit is aborted, and the call is refused without a run',
  async () => {
    const runs = await runsOf();
    const reference = await world.mint(world.add('content'));
    const closed = Promise.withResolvers<void>();
    world.service?.sendInstead((outgoing) => {
      outgoing.once('close', () => closed.resolve());
      outgoing.write('con');
    });
    expect(errorCodeOf(await send(reference))).toBe('file_provider_mapping_failed');
    await closed.promise;
    expect(await runsOf()).toBe(runs);
  },
);

verifies(
  ['fileref:mapping:failed'],
  'a file that cannot be stored for the run ends the call with file_provider_mapping_failed, and the answer does not name the store',
  async () => {
    const versionId = uuid();
    await using own = await startAgent({
      bundle: fileAgentBundle({ bundle: { versionId } }),
      config: { files: world.place },
      fileServiceToken: String(world.token),
    });
    rmSync(folderOf(versionId), { recursive: true, force: true });
    writeFileSync(folderOf(versionId), 'a file in the place of the folder');
    try {
      const reference = await world.mint(world.add('content'));
      const answer = await send(reference, own);
      expect([answer.status, errorCodeOf(answer)]).toEqual([502, 'file_provider_mapping_failed']);
      for (const hidden of [reference.capability, reference.fileId, versionId, 'file-channels']) {
        expect(answer.text).not.toContain(hidden);
      }
      expect(await runsOf(own)).toBe(0);
    } finally {
      rmSync(folderOf(versionId), { force: true });
    }
    expect((await send(await world.mint(world.add('content')), own)).status).toBe(200);
  },
);

verifies(
  ['fileref:provider-path:not-reused-agent'],
  'the temporary file of one agent cannot be read by another agent',
  async () => {
    await using other = await startAgent({
      bundle: fileAgentBundle({ bundle: { agentId: uuid(), versionId: uuid() } }),
      config: { files: world.place },
      fileServiceToken: String(world.token),
    });
    const answer = await send(await world.mint(world.add('content')));
    const { message } = answer.json as unknown as { message: { parts: [{ data: { object: string } }] } };
    const { object } = message.parts[0].data;
    for (const fileId of [object, join(folderOf(fileUse.versionId), object), 'file-1']) {
      expect(errorCodeOf(await send({ fileId }, other))).toBe('file_provider_mapping_failed');
    }
  },
);

test('temporary files expire, and newer files are kept', async () => {
  using folder = temporaryFolder();
  const [old, fresh] = [join(folder.path, 'old'), join(folder.path, 'fresh')];
  for (const path of [old, fresh]) writeFileSync(path, '');
  const before = new Date(Date.now() - 60_000);
  utimesSync(old, before, before);
  const provider = await openTemporaryFiles(folder.path, 60_000);
  expect(() => statSync(old)).toThrow();
  utimesSync(fresh, before, before);
  const id = await provider.put(Buffer.from('content'));
  expect(() => statSync(fresh)).toThrow();
  const [name = ''] = readdirSync(folder.path);
  expect(name).toContain(id);
  expect(statSync(join(folder.path, name)).mode & 0o777).toBe(0o600);
  await provider.remove(id);
  expect(readdirSync(folder.path)).toEqual([]);
});

test('the next process of a version removes the files of a killed process, and no file of a process that still runs', async () => {
  using folder = temporaryFolder();
  const file = new URL('../testing/leave-file.ts', import.meta.url);
  /** A process that has stored an object, and the object. */
  async function leave() {
    const before = readdirSync(folder.path);
    const child = spawn(process.execPath, [fileURLToPath(file), folder.path], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const name = await until('it has stored an object', () =>
      readdirSync(folder.path).find((one) => !before.includes(one)),
    );
    return {
      name,
      kill: async () => {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  const killed = await leave();
  await killed.kill();
  const running = await leave();
  try {
    // The second process started after the first one had ended, so that only its folder is left.
    expect(readdirSync(folder.path)).toEqual([running.name]);
    // A process that was restarted in its container has the same id as the previous process.
    const own = join(folder.path, `${process.pid}.left`);
    writeFileSync(own, '');
    const provider = await openTemporaryFiles(folder.path);
    expect(readdirSync(folder.path)).toEqual([running.name]);
    await provider.put(Buffer.from('content'));
    expect(readdirSync(folder.path)).toHaveLength(2);
  } finally {
    await running.kill();
  }
});

test('an agent version that accepts files is ready only with a configured file store, and its startup check reads a file', async () => {
  await using without = await startAgent({ bundle: fileAgentBundle() });
  const state = async (one: RunningAgent) => (await (await fetch(`${one.adminUrl}/state`)).json()) as object;
  expect(await state(without)).toMatchObject({
    ready: false,
    problems: [{ code: 'setting_invalid', message: expect.stringContaining('PORTCULLIS_FILES_DIR') }],
  });
  expect(await state(agent)).toMatchObject({ ready: true, capabilities: { files: true } });
  const unknown = { enabled: true, mediaTypes: ['video/mp4'], maxBytes: 1_024 };
  await using other = await startAgent({
    bundle: fileAgentBundle({ manifest: { files: unknown } }),
    config: { files: world.place },
  });
  expect(await state(other)).toMatchObject({
    ready: false,
    problems: [{ code: 'advertised_capability_unavailable', capability: 'files.mediaTypes' }],
  });
});

test('an agent version whose file nodes read texts only is not ready with a media type that has no text', async () => {
  const ready = async (flow: BundleParts['flow'], ...mediaTypes: readonly string[]) => {
    const files = { enabled: true, mediaTypes, maxBytes: 1_024 };
    await using one = await startAgent({
      bundle: fileAgentBundle({ ...(flow === undefined ? {} : { flow }), manifest: { files } }),
      config: { files: world.place },
      fileServiceToken: String(world.token),
    });
    return await (await fetch(`${one.adminUrl}/state`)).json();
  };
  expect(await ready(readingFlow, 'text/plain', 'application/json')).toMatchObject({ ready: true });
  expect(await ready(readingFlow, 'text/plain', 'application/pdf')).toMatchObject({
    ready: false,
    problems: [
      {
        code: 'advertised_capability_unavailable',
        capability: 'files.mediaTypes',
        message: expect.stringContaining('files.mediaTypes[1] has no text'),
      },
    ],
  });
  expect(await ready(undefined, 'text/plain', 'application/pdf')).toMatchObject({ ready: true });
});

test('a text file above the size of an output is refused before it is read if file nodes read texts', async () => {
  const files = { enabled: true, mediaTypes: ['text/plain'], maxBytes: 2 * flowLimits.outputBytes };
  await using reader = await startAgent({
    bundle: fileAgentBundle({ flow: readingFlow, manifest: { files } }),
    config: { files: world.place },
    fileServiceToken: String(world.token),
  });
  const [runs, downloads] = [await runsOf(reader), world.service?.counts.downloads];
  const large = await send(await world.mint(world.add('x'.repeat(flowLimits.outputBytes + 1))), reader);
  expect([errorCodeOf(large), large.status]).toEqual(['file_refused', 403]);
  expect([await runsOf(reader), world.service?.counts.downloads]).toEqual([runs, downloads]);
  const fits = await send(await world.mint(world.add('x'.repeat(flowLimits.outputBytes - 100))), reader);
  expect(fits.status).toBe(200);
  // As JSON with its media type, this text exceeds the size of an output: the node fails, not step three.
  const most = await send(await world.mint(world.add('x'.repeat(flowLimits.outputBytes))), reader);
  expect(errorCodeOf(most)).not.toBe('file_refused');
  expect(await runsOf(reader)).toBe(runs + 2);
});

test('a symbolic link in the folder of a file store is not followed', async () => {
  await using own = await openFolderWorld();
  const file = own.add('content');
  const outside = join(own.root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'secret'), 'content');
  const path = join(own.root, 'files', file.id);
  rmSync(path);
  symlinkSync(join(outside, 'secret'), path);
  const granted = await own.access.check(await own.mint(file), fileUse, AbortSignal.timeout(60_000));
  await expect(granted.open(AbortSignal.timeout(60_000))).rejects.toMatchObject({ name: 'FileUnavailableError' });
});
