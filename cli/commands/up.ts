import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { DataDirectory } from '#contracts/data-directory';
import { defaultHungAfterMs } from '#kit/process/watch-answers';
import { commandForNpm } from '../command-line/options-of-npm.ts';
import { CliError } from '../errors/cli-error.ts';
import { describeError } from '../errors/describe-error.ts';
import { type AuditReceiverOptions, addAuditReceivers, auditReceiverSettings } from '../options/audit-receivers.ts';
import { ipAddress } from '../options/ip-address.ts';
import { servedPolicyName } from '../options/served-policy.ts';
import { wholeNumber } from '../options/whole-number.ts';
import { chosenDataDirectory } from '../platform/data-directory.ts';
import { type PlatformLock, takeLock } from '../platform/lock.ts';
import { readSignInCode } from '../platform/sign-in-code.ts';
import { removeStartFailure, writeStartFailure } from '../platform/start-failure.ts';
import { readStatusFile } from '../platform/status-file.ts';
import { boundLogs } from '../supervisor/bound-logs.ts';
import { awaitExampleAgent, copyExampleAgents, exampleAgents } from '../supervisor/load-example-agent.ts';
import { loadHandbook } from '../supervisor/load-handbook.ts';
import { nextSteps } from '../supervisor/next-steps.ts';
import type { ConsoleMode } from '../supervisor/platform-processes.ts';
import { createRoot, prepareDirectory, refuseForeignFolder } from '../supervisor/prepare-directory.ts';
import { type SupervisedPlatform, startSupervisedPlatform } from '../supervisor/start-supervised-platform.ts';
import { waitForOrphans } from '../supervisor/wait-for-orphans.ts';
import { waitUntilServed } from '../supervisor/wait-until-served.ts';
import { watchApplyProblems } from '../supervisor/watch-apply-problems.ts';

const defaultPort = 8_080;
const highestPort = 65_535;
/**
 * npm and the terminal each deliver the same Ctrl-C; only a signal after this time, milliseconds, counts as a second
 * signal.
 */
const sameSignalMs = 1_000;

type UpOptions = AuditReceiverOptions & {
  readonly data?: string;
  readonly port: number;
  readonly address: string;
  readonly gateways: number;
  readonly management: boolean;
  readonly retrieval?: boolean;
  readonly handbook: boolean;
  readonly guardDocuments?: string;
  readonly memory?: boolean;
  readonly guardMemories?: string;
  readonly catalogue?: boolean;
  readonly guardCards?: string;
  readonly agents?: boolean;
  readonly console?: boolean;
};

export function addPlatformUp(program: Command): void {
  const command = program
    .command('up')
    .description('start the standalone platform and run it until Ctrl-C')
    .option('--data <dir>', 'data directory (default: PORTCULLIS_DATA_DIR, else .portcullis in the checkout)')
    .option(
      '--port <n>',
      'port of the gateway; 0 chooses a free one at the first start and keeps it',
      wholeNumber(0, highestPort),
      portFromEnvironment(),
    )
    .option('--address <ip>', 'address that the gateway listens on; 0.0.0.0 for all', ipAddress, '127.0.0.1')
    .option('--gateways <n>', 'number of gateway replicas, on consecutive ports', wholeNumber(1, 8), 1)
    .option('--no-management', 'do not start the policy management API and its database')
    .option('--retrieval', 'start the retrieval service, which searches documents with the rights of the caller')
    .option('--no-handbook', 'do not load the example collection at the first start with --retrieval')
    .option(
      '--guard-documents <name>',
      'with --retrieval: judge documents by this policy of served-policies.yaml before they are stored',
      servedPolicyName,
    )
    .option(
      '--catalogue',
      'start the agent catalogue, where people find the agents that they may use; agents are served, too',
    )
    .option(
      '--guard-cards <name>',
      'with --catalogue: judge names, descriptions and skills of agents by this policy of served-policies.yaml before they are shown',
      servedPolicyName,
    )
    .option('--memory', 'start the memory service, which stores facts that users state about themselves')
    .option(
      '--guard-memories <name>',
      'with --memory: judge what users say by this policy of served-policies.yaml before it is stored',
      servedPolicyName,
    )
    .option(
      '--agents',
      'serve agents through the gateways, and load the examples of agents at the first start with this option',
    )
    .option(
      '--console',
      'start the console, web pages for policies, knowledge, memory and agents, at once instead of at its first visit',
    )
    .option('--no-console', 'do not serve the console');
  addAuditReceivers(command).action((options: UpOptions) => up(options));
  program.hook('preSubcommand', (parent, chosen) => {
    if (chosen === command) refuseOptionsOfNpm(command, parent.args.slice(1));
  });
}

async function up(options: UpOptions): Promise<void> {
  const begun = performance.now();
  refuseLastPort(options);
  if (options.guardDocuments !== undefined && options.retrieval !== true) {
    throw new CliError('usage', '--guard-documents judges the documents of retrieval: add --retrieval.');
  }
  if (options.guardMemories !== undefined && options.memory !== true) {
    throw new CliError('usage', '--guard-memories checks texts before the memory service stores them: add --memory.');
  }
  if (options.guardCards !== undefined && options.catalogue !== true) {
    throw new CliError(
      'usage',
      '--guard-cards checks texts of agents before the catalogue shows them: add --catalogue.',
    );
  }
  const audit = auditReceiverSettings(options);
  const data = chosenDataDirectory(options.data);
  const hungAfterMs = hungAfterFromEnvironment();
  process.title = `portcullis-up ${data.root}`;
  createRoot(data);
  refuseForeignFolder(data);
  using lock = lockOf(data);
  void lock;
  try {
    await runPlatform({ ...options, audit, hungAfterMs }, data, begun);
  } catch (error) {
    await writeStartFailure(data, describeError(error).message, new Date());
    throw error;
  }
}

/** Gateways have consecutive ports. @throws CliError usage */
function refuseLastPort({ port, gateways }: UpOptions): void {
  if (port === 0 || port + gateways - 1 <= highestPort) return;
  throw new CliError(
    'usage',
    `${gateways} gateways need the ports ${port} to ${port + gateways - 1}, and the last port is ${highestPort}: choose a port of at most ${highestPort + 1 - gateways}.`,
  );
}

/** Runs the platform until a signal. @throws the reason for which it could not start */
async function runPlatform(
  options: UpOptions & { readonly audit: Readonly<Record<string, string>>; readonly hungAfterMs: number },
  data: DataDirectory,
  begun: number,
): Promise<void> {
  const stopping = abortOnSignal();
  const isFirst = await prepareDirectory(data);
  const examples = options.agents === true ? exampleAgents({ retrieval: options.retrieval === true }) : [];
  const copied = await copyExampleAgents(data, examples);
  for (const name of copied) say(`the example of the agent ${name} was copied into apply/`);
  await waitForOrphans(data, say);
  say(`data in ${data.root}${isFirst ? ' (new: the example was copied into apply/)' : ''}`);
  let platform: SupervisedPlatform | undefined;
  using problems = watchApplyProblems(data, say);
  void problems;
  using logs = boundLogs(data.logs);
  void logs;
  try {
    platform = await startSupervisedPlatform({
      ...options,
      retrieval: options.retrieval === true,
      guardDocuments: options.guardDocuments,
      memory: options.memory === true,
      guardMemories: options.guardMemories,
      console: consoleModeOf(options.console),
      catalogue: options.catalogue === true,
      guardCards: options.guardCards,
      agents: options.agents === true || options.catalogue === true,
      data,
      say,
      signal: stopping,
    });
    removeStartFailure(data);
    const { addresses } = platform.status();
    const served = { api: addresses.api, admins: platform.admins() };
    say('waiting for gateways and bindings');
    await waitUntilServed(data, served, say, stopping);
    if (options.handbook && addresses.retrieval !== undefined && !stopping.aborted) {
      await Promise.race([loadHandbook(data, addresses.retrieval, say), aborted(stopping)]);
    }
    const agents: string[] = [];
    for (const example of examples) {
      if (stopping.aborted) break;
      const served = await Promise.race([awaitExampleAgent(data, addresses.api, example, say), aborted(stopping)]);
      if (served === true) agents.push(example.name);
    }
    if (!stopping.aborted) {
      platform.settled();
      say(`ready after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
      const hasHandbook = addresses.retrieval !== undefined && existsSync(data.handbook);
      // A code in the file is of an earlier run until the sign-in pages start.
      const hasSignIn = platform.status().processes.some(({ kind, ready }) => kind === 'signin' && ready);
      const signInCode = hasSignIn ? readSignInCode(data) : undefined;
      const steps = { data: options.data, isNpm: isStartedByNpm(), hasHandbook, agents, signInCode };
      process.stdout.write(nextSteps(platform.status(), steps));
    }
    await aborted(stopping);
  } catch (error) {
    if (!stopping.aborted) throw error;
  } finally {
    if (platform !== undefined) {
      say('stopping the gateways, then the operator and its workloads');
      await platform.stop();
    }
    say('stopped');
  }
}

function consoleModeOf(option: boolean | undefined): ConsoleMode {
  if (option === undefined) return 'at the first visit';
  return option ? 'at start' : 'never';
}

function lockOf(data: DataDirectory): PlatformLock {
  const lock = takeLock(data.lock);
  if (lock !== undefined) return lock;
  const holder = readStatusFile(data.status);
  const [who, how] =
    holder === undefined
      ? ['Another platform', '']
      : [`Another platform (process ${holder.pid})`, ` or with "kill ${holder.pid}"`];
  const remedy = `stop it with Ctrl-C in its terminal${how}, or choose another folder with --data DIR.`;
  throw new CliError('busy', `${who} runs on ${data.root}: ${remedy}`);
}

/**
 * A signal that is aborted by the first SIGINT or SIGTERM. A second one, later than the duplicate of the first, kills
 * all processes immediately.
 */
function abortOnSignal(): AbortSignal {
  const stop = new AbortController();
  let first = 0;
  function onSignal(): void {
    if (!stop.signal.aborted) {
      first = performance.now();
      stop.abort(new DOMException('stopped by a signal', 'AbortError'));
      return;
    }
    if (performance.now() - first < sameSignalMs) return;
    // The child processes exit when their supervisor has exited.
    process.kill(process.pid, 'SIGKILL');
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  return stop.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    // A timer keeps the idle supervisor process alive.
    const alive = setInterval(() => undefined, 2 ** 30);
    signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  });
}

function isStartedByNpm(): boolean {
  return process.env['npm_lifecycle_event'] === 'start';
}

/**
 * Refuses options that npm has read as its own settings. These are detected before the command line is parsed: `npm
 * start --port 8090` passes `8090` on as an argument.
 */
function refuseOptionsOfNpm({ options }: Command, words: readonly string[]): void {
  if (!isStartedByNpm()) return;
  const found = commandForNpm(options, words, process.env);
  if (found === undefined) return;
  const { taken, command } = found;
  throw new CliError(
    'usage',
    `npm kept these options for itself: ${taken.join(', ')}. Write two dashes before them: ${command}`,
  );
}

function portFromEnvironment(): number {
  const text = process.env['PORTCULLIS_PORT'];
  if (text === undefined || text === '') return defaultPort;
  try {
    return wholeNumber(0, highestPort)(text);
  } catch {
    throw new CliError(
      'usage',
      `PORTCULLIS_PORT is ${JSON.stringify(text)}: it must be a whole number from 0 to 65535.`,
    );
  }
}

/**
 * The time after which a process counts as hung: a debugger that pauses a process, or a test that suspends one, needs
 * more time.
 */
function hungAfterFromEnvironment(): number {
  const text = process.env['PORTCULLIS_HUNG_AFTER_SECONDS'] ?? '';
  if (text === '') return defaultHungAfterMs;
  try {
    return wholeNumber(1, 86_400)(text) * 1_000;
  } catch {
    throw new CliError(
      'usage',
      `PORTCULLIS_HUNG_AFTER_SECONDS is ${JSON.stringify(text)}: it must be a whole number from 1 to 86400.`,
    );
  }
}

function say(sentence: string): void {
  process.stdout.write(`portcullis: ${sentence}\n`);
}
