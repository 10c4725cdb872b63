// A candidate of an election that writes while it is the leader. Usage: node elector-process.ts OPTIONS, with
// ElectorOptions as JSON.

import { wait } from '#kit/time/wait';
import type { Stored } from '#resources/metadata';
import { preconditionTests } from '../apply/apply.ts';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { ConfigMap } from '../client/builtin-types.ts';
import { createClient, type KubeClient } from '../client/client.ts';
import type { ClientCertificate } from '../client/cluster-access.ts';
import { fenced } from '../election/fenced-client.ts';
import { startLeaderElection } from '../election/leader-election.ts';

export type ElectorOptions = {
  readonly url: string;
  readonly caPem?: string | undefined;
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly namespace: string;
  readonly identity: string;
  readonly times: { readonly leaseMs?: number; readonly renewDeadlineMs?: number; readonly retryMs?: number };
  /** Names of the ConfigMaps that the leader increments in a loop. */
  readonly counters: readonly string[];
  /** Whether the process ignores the loss of leadership, so that only preconditions stop its late writes. */
  readonly isReckless: boolean;
};

/** A line of the output of the process. `at` is the time of day in milliseconds. */
export type ElectorLine =
  | { readonly event: 'ready' | 'elected' | 'lost' | 'released'; readonly at: number }
  | { readonly event: 'wrote' | 'refused'; readonly at: number; readonly counter: string; readonly code?: string };

const options = JSON.parse(process.argv[2] ?? '{}') as ElectorOptions;
const { identity, counters, isReckless, times } = options;
const kind = builtinKinds.configMap;
const stop = new AbortController();

function say(event: ElectorLine['event'], more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ event, at: Date.now(), ...more })}\n`);
}

/** Increments a counter once, based on the cached object, as a controller does. */
async function write(client: KubeClient, known: Map<string, Stored<ConfigMap>>, counter: string): Promise<void> {
  const held = known.get(counter) ?? (await client.get<ConfigMap>(kind, counter));
  if (held === undefined) throw new TypeError(`the counter ${counter} does not exist`);
  const count = Number(held.data?.['count'] ?? '0') + 1;
  try {
    const written = await client.patch<ConfigMap>(kind, counter, [
      ...preconditionTests(held, 'resourceVersion'),
      { op: 'add', path: '/data', value: { writer: identity, count: String(count) } },
    ]);
    known.set(counter, written);
    say('wrote', { counter });
  } catch (error) {
    // A controller reads the object again after a failed write.
    if (!isReckless) known.delete(counter);
    say('refused', { counter, code: (error as { code?: string }).code ?? 'unexpected' });
    await wait(20, stop.signal);
  }
}

const client = createClient({ ...options, credentials: { authorization: () => undefined } });
const logger = { info() {}, warn() {} };
const election = startLeaderElection({ client, name: 'elected', identity, logger, ...times });
const writer = isReckless ? client : fenced(client, () => election.writesAllowed());
void election.lost.then(() => {
  say('lost');
  if (!isReckless) stop.abort();
});
process.on('SIGTERM', () => stop.abort());
say('ready');

const stopped = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
await Promise.race([election.elected, stopped]);
if (!stop.signal.aborted) say('elected');
const known = new Map<string, Stored<ConfigMap>>();
while (!stop.signal.aborted) {
  for (const counter of counters) if (!stop.signal.aborted) await write(writer, known, counter);
  await wait(5, stop.signal);
}
await election[Symbol.asyncDispose]();
say('released');
await client[Symbol.asyncDispose]();
