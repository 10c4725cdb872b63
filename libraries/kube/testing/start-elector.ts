import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from '../../../e2e/support/until.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { ConfigMap } from '../client/builtin-types.ts';
import type { KubeClient } from '../client/client.ts';
import { startReflector } from '../watch/reflector.ts';
import type { ElectorLine, ElectorOptions } from './elector-process.ts';

/** Where candidates compete, as each of their processes reaches it. */
export type ElectionServer = {
  readonly client: KubeClient;
  readonly access: Pick<ElectorOptions, 'url' | 'caPem' | 'clientCertificate'>;
};

export type Elector = AsyncDisposable & {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly lines: readonly ElectorLine[];
  /** The first line of an event. */
  said(event: ElectorLine['event']): ElectorLine | undefined;
  count(event: ElectorLine['event']): number;
};

const ledgers = ['ledger-1', 'ledger-2', 'ledger-3'];

/** Starts a candidate as a process of its own, with the usual times where none are given. */
export async function startElector(
  { client, access }: ElectionServer,
  identity: string,
  options: Partial<ElectorOptions> = {},
): Promise<Elector> {
  const { namespace } = client;
  const all: ElectorOptions = { ...access, namespace, identity, ledgers, times: {}, isReckless: false, ...options };
  const file = fileURLToPath(new URL('./elector-process.ts', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(all)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: ElectorLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as ElectorLine));
  const elector: Elector = {
    identity,
    child,
    lines,
    said: (event) => lines.find((line) => line.event === event),
    count: (event) => lines.filter((line) => line.event === event).length,
    [Symbol.asyncDispose]: () => endElector(child),
  };
  await until(`${identity} runs`, () => elector.said('ready'));
  return elector;
}

async function endElector(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill('SIGKILL');
  await exited;
}

/** Who wrote each ledger, one after the other. */
export type Ledgers = AsyncDisposable & { readonly writers: ReadonlyMap<string, readonly string[]> };

/** Makes the ledgers and follows them. */
export async function openCounters({ client }: ElectionServer): Promise<Ledgers> {
  const writers = new Map<string, string[]>(ledgers.map((name) => [name, []]));
  for (const name of ledgers) {
    const metadata = { name, labels: { ledger: 'yes' } };
    await client.create<ConfigMap>(builtinKinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
  }
  const follower = startReflector<ConfigMap>({
    client,
    kind: builtinKinds.configMap,
    labelSelector: 'ledger=yes',
    logger: { info() {}, warn() {} },
    onChange(name, current) {
      const writer = current?.data?.['writer'];
      if (writer !== undefined) writers.get(name)?.push(writer);
    },
  });
  await follower.synced;
  return { writers, [Symbol.asyncDispose]: () => follower[Symbol.asyncDispose]() };
}
