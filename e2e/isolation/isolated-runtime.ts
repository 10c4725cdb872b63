import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent } from 'undici';
import type { Bundle } from '#contracts/bundle';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import {
  createRuntimeClient,
  providerKey,
  type RuntimeResponse,
  type TestRuntime,
  testServiceToken,
} from '../../runtime/testing/start-runtime.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import type { Level } from './collect-on-signal.ts';

/** A separate runtime process with a client; unlike other runtimes it collects garbage on request. */
export type IsolatedRuntime = AsyncDisposable &
  Pick<TestRuntime, 'url' | 'folder' | 'headers' | 'check' | 'post' | 'get' | 'metric'> & {
    readonly process: RunningProcess;
    /** The memory of the process after all its connections are closed. */
    readonly settle: () => Promise<Level>;
  };

/** A small young generation in V8: otherwise resident memory depends on the load of the machine. */
const options = ['--expose-gc', '--max-semi-space-size=4'];

/**
 * Starts a runtime process on a bundle, valid or not, and waits until it listens. `defects` are files of this folder
 * that are preloaded into it.
 */
export async function startIsolated(bundle: Bundle, defects: readonly string[] = []): Promise<IsolatedRuntime> {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  writeFileSync(file('bundle.json'), JSON.stringify(bundle));
  writeFileSync(file('token'), `${testServiceToken}\n`);
  writeFileSync(file('provider.key'), `${providerKey}\n`);
  const loaded = ['collect-on-signal.ts', ...defects].map(
    (name) => `--import ${pathToFileURL(join(root, 'e2e/isolation', name)).href}`,
  );
  const process = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      NODE_OPTIONS: [...options, ...loaded].join(' '),
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: file('bundle.json'),
      PORTCULLIS_TOKEN_FILE: file('token'),
      PORTCULLIS_SECRETS_DIR: folder.path,
      PORTCULLIS_TERMINATION_MESSAGE_FILE: file('termination'),
    },
  });
  // Idle connections are closed immediately, so that a process without active clients has no connections.
  const agent = new Agent({ keepAliveTimeout: 50, keepAliveMaxTimeout: 50 });
  return {
    ...createRuntimeClient(process.url, agent, bundle),
    url: process.url,
    folder: folder.path,
    process,
    settle: () => until('the connections are closed', () => levelOf(process), { everyMs: 100 }),
    [Symbol.asyncDispose]: async () => {
      await agent.destroy();
      await process[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Starts an isolated runtime on a bundle that can be loaded. */
export async function startReady(bundle: Bundle, defects: readonly string[] = []): Promise<IsolatedRuntime> {
  const runtime = await startIsolated(bundle, defects);
  const refused = (): boolean => runtime.process.log().includes('bundle_refused');
  await until('the bundle is loaded', async () => refused() || (await runtime.get('/readyz')).status === 200);
  if (!refused()) return runtime;
  await runtime[Symbol.asyncDispose]();
  throw new Error(`the bundle is refused: ${runtime.process.log()}`);
}

const said = /^collected (.*)$/gm;

async function levelOf(runtime: RunningProcess): Promise<Level | undefined> {
  const before = [...runtime.log().matchAll(said)].length;
  runtime.signal('SIGUSR2');
  const level = await until('the process collected garbage', () => {
    const all = [...runtime.log().matchAll(said)];
    return all.length > before ? (JSON.parse(all.at(-1)?.[1] ?? '') as Level) : undefined;
  });
  return level.sockets === 0 ? level : undefined;
}

/** Status and code or reason of an answer. */
export function outcome({ status, json }: RuntimeResponse): string {
  return `${status} ${String(json.code ?? json.action?.['reason'])}`;
}

/** Number of answers with each outcome. */
export function outcomes(answers: readonly RuntimeResponse[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of answers) counts[outcome(answer)] = (counts[outcome(answer)] ?? 0) + 1;
  return counts;
}

/** Sends valid checks, several at a time, for an application whose texts pass. */
export async function checkMany(
  runtime: IsolatedRuntime,
  count: number,
  { atOnce, policy }: { readonly atOnce: number; readonly policy?: string },
): Promise<Readonly<Record<string, number>>> {
  const answers: RuntimeResponse[] = [];
  let left = count;
  const changes = policy === undefined ? {} : { 'x-ap-gr-policy-id': policy };
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      answers.push(await runtime.check('request', ['hello'], changes));
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes(answers);
}

export const pass = '200 policy_pass';
