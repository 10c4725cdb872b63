import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { familyOf, processMemory } from '#kit/testing/process-table';
import { type FollowedChild, startFollowed } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { connectOwnModel, ownModelCommands } from '../readme/own-model.ts';
import { isPrinted, readBlocks, readCommands } from '../readme/read-blocks.ts';
import { type InteractiveShell, openShell } from '../readme/shell.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';

/** The steps of a new user, from a fresh clone of this checkout, as README.md prints them. */
type NewcomerResult = {
  /** Seconds from the clone to the first answer of the user's own model. */
  readonly seconds: number;
  /** Differences from README.md, and answers that were not guarded. */
  readonly faults: readonly string[];
  /** Proportional memory of all processes of the platform at rest, bytes. */
  readonly memory: number;
};

const answerOfModel = 'A gate that falls.';
const mebibyte = 1_048_576;
/** A part of an installation, as hack/install reports it. */
const installedPart = /portcullis: (.+) \.\.\.[\s\S]*?done after (\d+) s/g;
/** Memory is read until it has not decreased for this time, milliseconds. */
const restMs = 10_000;

/** The environment of a new user: neither this checkout's Node nor its cache of compiled sources. */
function userEnvironment(): Record<string, string | undefined> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE|PORTCULLIS_|INIT_CWD)/.test(name));
  const path = (process.env['PATH'] ?? '').split(':').filter((folder) => !folder.startsWith(root));
  return { ...Object.fromEntries(kept), PATH: path.join(':'), PORTCULLIS_PORT: '0' };
}

/** Starts processes each of which keeps one core busy until disposal. */
function makeLoad(count: number): Disposable {
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  return { [Symbol.dispose]: () => busy.forEach((child) => void child.kill('SIGKILL')) };
}

type Steps = {
  readonly step: <T>(title: string, run: () => T | Promise<T>) => Promise<T>;
  readonly seconds: () => number;
};

function countSteps(say: (line: string) => void): Steps {
  let total = 0;
  return {
    seconds: () => total,
    async step(title, run) {
      const begun = performance.now();
      const result = await run();
      const seconds = (performance.now() - begun) / 1_000;
      total += seconds;
      say(`${seconds.toFixed(1).padStart(5)} s  ${title}`);
      return result;
    },
  };
}

async function startPlatform(folder: string, env: Record<string, string | undefined>): Promise<FollowedChild> {
  const platform = startFollowed(['npm', 'start'], { cwd: folder, env });
  const isReady = (): boolean => platform.output().includes('Ctrl-C stops everything.');
  await until('npm start is ready', () => platform.hasEnded() || isReady(), { deadlineMs: 600_000 });
  if (!isReady()) throw new Error(`npm start ended before it was ready:\n${platform.output()}`);
  return platform;
}

/** The commands of the section "A guarded chat" up to the first denied command, with their expected output. */
function firstCommands(readme: string) {
  const commands = readBlocks(readme)
    .filter(({ label }) => label === 'console')
    .flatMap(readCommands);
  const end = commands.findIndex(({ output }) => output.includes('guardrail_blocked'));
  return commands.slice(0, end + 1);
}

async function typeAsPrinted(shell: InteractiveShell, command: string, printed: string): Promise<readonly string[]> {
  const given = await shell.type(command);
  return isPrinted(printed, given) ? [] : [`${command}\nprinted:\n${printed}\ngiven:\n${given}`];
}

/**
 * Measures `portcullis up` and its descendants, without the npm process that waits for it.
 * @returns the smallest sum, once it has not decreased for a while
 */
async function memoryAtRest(folder: string, say: (line: string) => void): Promise<number> {
  const { pid: up } = JSON.parse(readFileSync(join(folder, '.portcullis/status.json'), 'utf8')) as { pid: number };
  let least = Number.POSITIVE_INFINITY;
  let since = performance.now();
  await until('the platform is at rest', () => {
    const sum = familyOf(up).reduce((total, { pid }) => total + proportional(pid), 0);
    if (sum < least - mebibyte) since = performance.now();
    least = Math.min(least, sum);
    return performance.now() - since > restMs;
  });
  for (const { pid, command } of familyOf(up)) {
    const size = Math.round(proportional(pid) / mebibyte);
    if (size >= 5) say(`${String(size).padStart(5)} MiB  ${command.split(' ')[0]}`);
  }
  return least;
}

function proportional(pid: number): number {
  try {
    return processMemory(pid).proportional;
  } catch {
    // The process has exited since the table was read.
    return 0;
  }
}

/** @param load number of processes that each keep a core busy during the run */
export async function followReadme(load: number, say: (line: string) => void): Promise<NewcomerResult> {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: answerOfModel }));
  const folder = join(stack.use(temporaryFolder()).path, 'portcullis');
  const env = userEnvironment();
  stack.use(makeLoad(load));
  const { step, seconds } = countSteps(say);
  const faults: string[] = [];
  await step('git clone', () => execFileSync('git', ['clone', '--quiet', `file://${root}`, folder]));
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  let platform = await step('npm start', () => startPlatform(folder, env));
  stack.defer(async () => void (await platform.end('SIGINT')));
  for (const [, part, seconds] of platform.output().matchAll(installedPart)) say(`         ${part}: ${seconds} s`);
  const tools = ['vitest', 'typescript', '@biomejs/biome', 'openai'];
  const installed = tools.filter((name) => existsSync(join(folder, 'node_modules', name)));
  faults.push(...installed.map((name) => `npm start installed ${name}, which only the tests use`));
  const shell = stack.use(openShell(folder, env));
  for (const { command, output } of firstCommands(readme)) {
    faults.push(...(await step(command, () => typeAsPrinted(shell, command, output))));
  }
  connectOwnModel(join(folder, '.portcullis'), readme, `${upstream.url}/v1`);
  for (const { command, output } of ownModelCommands(readme, 'small')) {
    faults.push(...(await step(command, () => typeAsPrinted(shell, command, output))));
  }
  if (upstream.seen.length !== 1) faults.push('the model was called for a text that the policy denies');
  // The first start keeps the memory of the compilation of the sources until the next start.
  await platform.end('SIGINT');
  platform = await startPlatform(folder, env);
  const memory = await memoryAtRest(folder, say);
  return { seconds: seconds(), faults, memory };
}
