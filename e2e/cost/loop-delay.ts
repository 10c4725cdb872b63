import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { goodHeaders, testServiceToken } from '../../runtime/testing/start-runtime.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';

/** Event-loop delay of a process in milliseconds. */
type LoopDelay = { readonly p50: number; readonly p99: number; readonly max: number };
/** The event-loop delay, with the answers in that period. */
type LoadedLoop = LoopDelay & { readonly answers: Readonly<Record<string, number>> };

export type LoopReport = { readonly idle: LoopDelay; readonly rounds: readonly LoadedLoop[] };

/** Serves a bundle with a runtime process and sends one check at a time, for each of the rounds. */
export async function measureLoopDelay(
  bundle: Bundle,
  body: string,
  { rounds, roundMs }: { readonly rounds: number; readonly roundMs: number },
): Promise<LoopReport> {
  using folder = temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  writeFileSync(file('bundle.json'), JSON.stringify(bundle));
  writeFileSync(file('token'), `${testServiceToken}\n`);
  await using runtime = await startProcess({
    file: 'runtime/main.ts',
    environment: {
      PORTCULLIS_LISTEN: '127.0.0.1:0',
      PORTCULLIS_BUNDLE_FILE: file('bundle.json'),
      PORTCULLIS_TOKEN_FILE: file('token'),
      NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'loop-delay-hook.ts')).href}`,
      LOOP_DELAY_FILE: file('delay.json'),
    },
  });
  await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200, {
    deadlineMs: 60_000,
  });
  const read = (): Promise<LoopDelay> => readDelay(runtime, file('delay.json'));
  const agent = new Agent({ connections: 1 });
  try {
    await send(agent, runtime.url, bundle, body, roundMs / 2);
    await read();
    await new Promise((resolve) => setTimeout(resolve, roundMs / 2));
    const idle = await read();
    const loaded: LoadedLoop[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const answers = await send(agent, runtime.url, bundle, body, roundMs);
      loaded.push({ ...(await read()), answers });
    }
    return { idle, rounds: loaded };
  } finally {
    await agent.destroy();
  }
}

async function readDelay(runtime: RunningProcess, path: string): Promise<LoopDelay> {
  rmSync(path, { force: true });
  runtime.signal('SIGUSR2');
  await until('the delay is written', () => existsSync(path) && readFileSync(path, 'utf8').endsWith('}'));
  return JSON.parse(readFileSync(path, 'utf8')) as LoopDelay;
}

/** Number of answers by code, or by reason of a pass, for checks sent one after another for a period. */
async function send(agent: Agent, url: string, bundle: Bundle, body: string, forMs: number) {
  const headers = Object.fromEntries(
    Object.entries(goodHeaders(bundle, digestOf(bundle))).map(([name, value]) => [name, String(value)]),
  );
  const answers: Record<string, number> = {};
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    const answer = await request(`${url}/request`, { dispatcher: agent, method: 'POST', headers, body });
    const { action, code } = (await answer.body.json()) as { action?: { reason: string }; code?: string };
    const said = action?.reason ?? code ?? String(answer.statusCode);
    answers[said] = (answers[said] ?? 0) + 1;
  }
  return answers;
}
