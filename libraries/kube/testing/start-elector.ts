import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { until } from '#kit/testing/until';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { ConfigMap } from '../client/builtin-types.ts';
import type { KubeClient } from '../client/client.ts';
import { startReflector } from '../watch/reflector.ts';
import type { ElectorLine, ElectorOptions } from './elector-process.ts';

/** A server of leases, and how a candidate process reaches it. */
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

const counters = ['counter-1', 'counter-2', 'counter-3'];

/** Starts a candidate as a process; with the standard durations unless `times` are given. */
export async function startElector(
  { client, access }: ElectionServer,
  identity: string,
  options: Partial<ElectorOptions> = {},
): Promise<Elector> {
  const { namespace } = client;
  const all: ElectorOptions = { ...access, namespace, identity, counters, times: {}, isReckless: false, ...options };
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

/** The identities that wrote each counter, in order. */
type CounterHistory = AsyncDisposable & { readonly writers: ReadonlyMap<string, readonly string[]> };

/** Creates the counters and watches them. */
export async function openCounters({ client }: ElectionServer): Promise<CounterHistory> {
  const writers = new Map<string, string[]>(counters.map((name) => [name, []]));
  for (const name of counters) {
    const metadata = { name, labels: { counter: 'yes' } };
    await client.create<ConfigMap>(builtinKinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
  }
  const reflector = startReflector<ConfigMap>({
    client,
    kind: builtinKinds.configMap,
    labelSelector: 'counter=yes',
    logger: { info() {}, warn() {} },
    onChange(name, current) {
      const writer = current?.data?.['writer'];
      if (writer !== undefined) writers.get(name)?.push(writer);
    },
  });
  await reflector.synced;
  return { writers, [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose]() };
}
