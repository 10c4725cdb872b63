import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { Agent } from 'undici';
import { expect } from 'vitest';
import { hasProcessTable } from '#kit/testing/process-table';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { connectionsTo, socketsOf } from '../e2e/support/process-sockets.ts';
import { startProcess } from '../e2e/support/start-process.ts';
import { verifies } from '../e2e/support/verifies.ts';
import { bundleOf, masking, stopList } from './testing/build-bundle.ts';
import { createRuntimeClient, testServiceToken } from './testing/start-runtime.ts';

/** Paths and digests of all files below a folder. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
    .sort();
}

/** Regular files that a process holds open, by path. */
function openFiles(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    })
    .filter((path) => path.startsWith('/') && !path.startsWith('/dev/'))
    .sort();
}

/** A server that a runtime must never call: it represents a model, a document store and the host of a document. */
async function startForbiddenServer() {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port, accepted: () => accepted, [Symbol.dispose]: () => void server.close() };
}

verifies(
  [
    'guardrail:state:only-readiness',
    'guardrail:stateless:no-decision-audit',
    'guardrail:stage:stores-no-document',
    'guardrail:stage:no-model-call',
    'guardrail:text-only:document-url',
  ],
  'checks leave no file, no log line, no open descriptor and no connection behind, and do not change later checks',
  async ({ skip }) => {
    if (!hasProcessTable) skip('needs /proc');
    using forbidden = await startForbiddenServer();
    using folder = temporaryFolder();
    const judged = bundleOf([stopList('words', ['forbidden']), masking(stopList('names', ['alice']), '[name]')]);
    writeFileSync(join(folder.path, 'bundle.json'), JSON.stringify(judged));
    writeFileSync(join(folder.path, 'token'), `${testServiceToken}\n`);
    await using runtime = await startProcess({
      file: 'runtime/main.ts',
      environment: {
        HOME: folder.path,
        TMPDIR: folder.path,
        PORTCULLIS_LISTEN: '127.0.0.1:0',
        PORTCULLIS_BUNDLE_FILE: join(folder.path, 'bundle.json'),
        PORTCULLIS_TOKEN_FILE: join(folder.path, 'token'),
      },
    });
    await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200);
    const agent = new Agent({ pipelining: 0 });
    const client = createRuntimeClient(runtime.url, agent, judged);
    const url = `http://127.0.0.1:${forbidden.port}/document.pdf`;

    async function round(): Promise<readonly string[]> {
      const answers: string[] = [];
      for (const stage of ['request', 'response'] as const) {
        for (const text of ['hello', 'forbidden', 'alice', `read ${url}`]) {
          const { status, text: body } = await client.check(stage, [text]);
          answers.push(`${status} ${body}`);
        }
        const [list, wrap] =
          stage === 'request'
            ? (['messages', (one: object) => one] as const)
            : (['choices', (one: object) => ({ message: one })] as const);
        for (const message of [
          { role: 'user', url },
          { role: 'user', content: '', url },
          { role: 'user', content: { url } },
        ]) {
          const { status, json } = await client.post(
            `/${stage}`,
            JSON.stringify({ body: { [list]: [wrap(message)] } }),
          );
          answers.push(`${status} ${json.code}`);
        }
        expect(connectionsTo(forbidden.port, socketsOf(pid))).toBe(0);
      }
      return answers;
    }

    const { pid } = runtime;
    const first = await round();
    expect(first.filter((answer) => answer === '422 invalid_payload')).toHaveLength(6);
    const before = { files: filesBelow(folder.path), open: openFiles(pid), log: runtime.log() };
    for (let index = 0; index < 10; index += 1) expect(await round()).toEqual(first);
    expect({ files: filesBelow(folder.path), open: openFiles(pid), log: runtime.log() }).toEqual(before);
    expect(forbidden.accepted()).toBe(0);
    await agent.destroy();
  },
);
