import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { dataDirectory } from '#contracts/data-directory';
import type { ProvidersFile } from '#contracts/providers';
import { openTokenFile } from '#kit/http/token-file';
import type { FollowedChild } from '#kit/testing/start-followed';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient, type KubeClient } from '#kube/client/client';
import { startFile } from './start-process.ts';

/** The content of status.json, which `portcullis up` writes. */
type PlatformStatus = {
  readonly ready: boolean;
  readonly addresses: {
    readonly gateway: string;
    readonly gateways: readonly string[];
    readonly gatewayAdmins: readonly string[];
    readonly api: string;
    readonly management?: string;
    readonly issuer?: string;
    readonly retrieval?: string;
    readonly memory?: string;
    readonly catalogue?: string;
    readonly console?: string;
  };
  readonly managementOff?: string;
  readonly administrators?: readonly string[];
  readonly clientKeyFile: string;
  readonly pid: number;
  readonly processes: readonly { readonly name: string; readonly pid: number; readonly answering: boolean }[];
};

/** A complete standalone platform, started by the CLI on its own data directory. */
export type Platform = AsyncDisposable & {
  readonly data: string;
  readonly status: () => PlatformStatus;
  readonly key: string;
  /** The resources, as the operator serves them. */
  readonly client: KubeClient;
  readonly pid: number;
  /** Returns the terminal output up to now. */
  readonly output: () => string;
  /** Last lines of every log file, for failure messages. */
  readonly logs: () => string;
  /** Process id of a supervised process by its name, such as operator or gateway-1. */
  readonly pidOf: (name: string) => number;
  /** Sends a signal to `portcullis up` and waits until it exits; returns the exit code or the signal. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | NodeJS.Signals>;
};

type PlatformOptions = {
  readonly gateways?: number;
  /** Also starts the policy management API, its database and its issuer; most tests need none of them. */
  readonly management?: boolean;
  /** Whether the retrieval service is started. */
  readonly retrieval?: boolean;
  /** Whether the retrieval service has the example collection; most tests create collections of their own. */
  readonly handbook?: boolean;
  /** The served policy that judges documents. */
  readonly guardDocuments?: string;
  /** Whether the memory service is started. */
  readonly memory?: boolean;
  /** The served policy that judges memories. */
  readonly guardMemories?: string;
  /** Whether the agent catalogue is started. */
  readonly catalogue?: boolean;
  /** The served policy that judges the texts of cards. */
  readonly guardCards?: string;
  /** Whether the console is started; it requires management. */
  readonly console?: boolean;
  /** Whether the example agent is loaded. */
  readonly agents?: boolean;
  /** Replaces the built-in approved providers; the example is then absent. */
  readonly providers?: ProvidersFile['providers'];
  /** Files of the secrets folder by name. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** OTLP/HTTP address that gets the audit log. */
  readonly auditOtlp?: string;
  /** Address of the gateways; loopback when absent. */
  readonly address?: string;
  /** An existing data directory; a temporary directory when absent. */
  readonly data?: string;
  readonly deadlineMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
};

/** Creates a data directory without the example. */
function emptyDataDirectory(folder: string, { providers, secrets = {} }: PlatformOptions): void {
  for (const name of ['apply', 'secrets']) mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  for (const [name, content] of Object.entries(secrets))
    writeFileSync(join(folder, 'secrets', name), content, { mode: 0o600 });
  writeFileSync(join(folder, 'lock'), '');
  writeFileSync(join(folder, 'providers.yaml'), stringify({ providers }), { mode: 0o600 });
}

/** Runs `portcullis` with these arguments; its standard input closes with this process. */
export function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): FollowedChild {
  return startFile({ file: 'cli/main.ts', args, environment });
}

function readStatus(data: string): PlatformStatus | undefined {
  try {
    return JSON.parse(readFileSync(join(data, 'status.json'), 'utf8')) as PlatformStatus;
  } catch {
    return undefined;
  }
}

function lastLogLines(data: string): string {
  const folder = join(data, 'logs');
  if (!existsSync(folder)) return 'no logs were written';
  return readdirSync(folder)
    .map((name) => `--- ${name}\n${readFileSync(join(folder, name), 'utf8').split('\n').slice(-15).join('\n')}`)
    .join('\n');
}

async function waitUntilReady(child: FollowedChild, data: string, deadlineMs: number) {
  const status = await until(
    'the platform is ready',
    () => {
      if (child.hasEnded()) return 'ended';
      const found = readStatus(data);
      return found?.ready === true && found.pid === child.pid ? found : undefined;
    },
    { deadlineMs, everyMs: 50 },
  ).catch((error: unknown) => {
    child.signal('SIGKILL');
    throw new Error(`${String(error)}\n${child.output()}\n${lastLogLines(data)}`);
  });
  if (status === 'ended') {
    const end = await child.exit();
    throw new Error(`'portcullis up' ended (${end}) before it was ready:\n${child.output()}\n${lastLogLines(data)}`);
  }
  return status;
}

/** Starts `portcullis up` on free ports and waits until the platform reports that it is ready. */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  await using stack = new AsyncDisposableStack();
  const data = options.data ?? join(stack.use(temporaryFolder()).path, 'data');
  if (options.providers !== undefined) emptyDataDirectory(data, options);
  const words = ['up', '--data', data, '--port', '0', '--gateways', String(options.gateways ?? 1)];
  if (options.address !== undefined) words.push('--address', options.address);
  if (options.management !== true) words.push('--no-management');
  if (options.retrieval === true) words.push('--retrieval');
  if (options.handbook !== true) words.push('--no-handbook');
  if (options.guardDocuments !== undefined) words.push('--guard-documents', options.guardDocuments);
  if (options.memory === true) words.push('--memory');
  if (options.guardMemories !== undefined) words.push('--guard-memories', options.guardMemories);
  if (options.catalogue === true) words.push('--catalogue');
  if (options.guardCards !== undefined) words.push('--guard-cards', options.guardCards);
  if (options.agents === true) words.push('--agents');
  if (options.console === true) words.push('--console');
  if (options.auditOtlp !== undefined) words.push('--audit-otlp', options.auditOtlp);
  const child = startCommand(words, options.environment);
  stack.defer(async () => void (await child.end()));
  const status = await waitUntilReady(child, data, options.deadlineMs ?? 300_000);
  const key = readFileSync(status.clientKeyFile, 'utf8').split(/\s/)[0] ?? '';
  const client = stack.use(
    createClient({
      url: status.addresses.api,
      tokenFile: openTokenFile(dataDirectory(data).apiToken),
      namespace: 'default',
    }),
  );
  const current = () => readStatus(data) ?? status;
  const owned = stack.move();
  return {
    data,
    status: current,
    key,
    client,
    pid: status.pid,
    output: child.output,
    logs: () => lastLogLines(data),
    pidOf: (name) => {
      const found = current().processes.find((process) => process.name === name);
      if (found === undefined) throw new Error(`the platform has no process ${name}`);
      return found.pid;
    },
    end: child.end,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
