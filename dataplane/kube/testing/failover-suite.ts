import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import { builtinKinds } from '../builtin-kinds.ts';
import type { ConfigMap } from '../builtin-types.ts';
import type { KubeClient } from '../client.ts';
import type { KubeObject } from '../kube-object.ts';
import { startReflector } from '../reflector.ts';
import type { ElectorLine, ElectorOptions } from './elector-process.ts';

/** Where candidates compete, as each of their processes reaches it. */
export type FailoverPlace = {
  readonly client: KubeClient;
  readonly access: Pick<ElectorOptions, 'url' | 'caPem' | 'clientCertificate'>;
};

export type Elector = {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly lines: readonly ElectorLine[];
  /** The first line of an event. */
  said(event: ElectorLine['event']): ElectorLine | undefined;
  count(event: ElectorLine['event']): number;
};

const ledgers = ['ledger-1', 'ledger-2', 'ledger-3'];
const quick = { leaseMs: 2_000, renewDeadlineMs: 1_200, retryMs: 300 };

/** Starts a candidate as a process of its own; it ends with the test. */
export async function startElector(
  { client, access }: FailoverPlace,
  identity: string,
  options: Partial<ElectorOptions> = {},
): Promise<Elector> {
  const { namespace } = client;
  const all: ElectorOptions = { ...access, namespace, identity, ledgers, times: quick, isReckless: false, ...options };
  const file = fileURLToPath(new URL('./elector-process.ts', import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(all)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => endElector(child));
  const lines: ElectorLine[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as ElectorLine));
  const elector: Elector = {
    identity,
    child,
    lines,
    said: (event) => lines.find((line) => line.event === event),
    count: (event) => lines.filter((line) => line.event === event).length,
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

/** Makes the ledgers and follows them: who wrote each of them, one after the other. */
export async function openLedgers({ client }: FailoverPlace): Promise<ReadonlyMap<string, readonly string[]>> {
  const writers = new Map<string, string[]>(ledgers.map((name) => [name, []]));
  for (const name of ledgers) {
    const metadata = { name, labels: { ledger: 'yes' } };
    await client.create<ConfigMap>(builtinKinds.configMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} });
  }
  const follower = startReflector<ConfigMap & KubeObject>({
    client,
    kind: builtinKinds.configMap,
    labelSelector: 'ledger=yes',
    logger: { info() {}, warn() {} },
    onChange(name, current) {
      const writer = current?.data?.['writer'];
      if (writer !== undefined) writers.get(name)?.push(writer);
    },
  });
  onTestFinished(() => follower[Symbol.asyncDispose]());
  await follower.synced;
  return writers;
}

/** How processes take over from each other, wherever leases are kept. */
export function testFailover(open: () => Promise<FailoverPlace>): void {
  test('another process leads after a crash, and at once after an orderly end', async () => {
    const place = await open();
    await openLedgers(place);
    const first = await startElector(place, 'first');
    await until('the first leads', () => first.count('wrote') > 0);
    const second = await startElector(place, 'second');
    first.child.kill('SIGKILL');
    await until('the second leads', () => second.count('wrote') > 0);
    const third = await startElector(place, 'third', { times: { ...quick, leaseMs: 600_000 } });
    second.child.kill('SIGTERM');
    await until('the third leads', () => third.count('wrote') > 0);
    expect(second.said('released')).toBeDefined();
    expect(third.count('refused')).toBe(0);
  });

  test.each([
    ['sends none of its writes', false],
    ['has none of its writes accepted, even past the fence', true],
  ])('a leader that was frozen beyond its lease %s', async (_name, isReckless) => {
    const place = await open();
    const writers = await openLedgers(place);
    const frozen = await startElector(place, 'frozen', { isReckless });
    await until('it leads', () => frozen.count('wrote') > 10);
    const other = await startElector(place, 'other');
    frozen.child.kill('SIGSTOP');
    await until('the other leads', () => other.count('wrote') > 10);
    const refusedBefore = frozen.count('refused');
    frozen.child.kill('SIGCONT');
    await until('the frozen one woke up', () => frozen.said('lost'));
    if (isReckless) await until('it tried to write', () => frozen.count('refused') > refusedBefore + 10);
    else await until('it ended', () => frozen.child.exitCode === 0);
    await until('the other goes on', () => other.count('wrote') > 30);
    for (const [ledger, sequence] of writers) {
      const takenAt = sequence.indexOf('other');
      expect({ ledger, taken: takenAt >= 0 }).toEqual({ ledger, taken: true });
      expect(sequence.slice(takenAt)).not.toContain('frozen');
    }
  });
}
