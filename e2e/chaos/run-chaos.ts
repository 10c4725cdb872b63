import { setTimeout as pause } from 'node:timers/promises';
import { hasProcessTable } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { bindingObject } from '../../operator/testing/objects.ts';
import { startJudgedTraffic, type TrafficReport, untilServed } from '../scenarios/cutover/judged-traffic.ts';
import { markedDefinition } from '../scenarios/cutover/marked-policy.ts';
import { connectionsTo, socketsOf } from '../support/process-sockets.ts';
import { applyRevision, bindingNow, bindingOf, conditionOf, policyOf, writePolicy } from '../support/resources.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { startChurn } from './churn.ts';
import { faultsOf, makeNoise, stopNoise } from './faults.ts';
import { findLost } from './find-lost.ts';
import { chaosClientKey, type LocalCluster, startLocalCluster } from './local-cluster.ts';

type ChaosOptions = {
  readonly seconds: number;
  /** Duration of a fault in milliseconds. */
  readonly stormMs: number;
  /** Names of the faults to inject, in this order; all when absent. */
  readonly faults?: readonly string[];
  readonly say: (progress: string) => void;
};

type ChaosReport = {
  readonly seconds: number;
  readonly rounds: number;
  readonly edits: number;
  readonly applications: number;
  /** Requests with a fault, and connections that were reset or silenced. */
  readonly faults: number;
  /**
   * Longest time in seconds from the end of a fault until an edit was applied on every gateway, and the fault that
   * preceded it.
   */
  readonly recovery: { readonly seconds: number; readonly after: string };
  /** Objects in an independent list that the installation lacks, one sentence each. */
  readonly lost: readonly string[];
  /**
   * Maximum number of connections that one process had to the API server, and maximum number of its sockets of all
   * kinds.
   */
  readonly connections: number;
  readonly sockets: number;
  /** Unexpected exits of processes. */
  readonly surprises: readonly string[];
  readonly traffic: TrafficReport;
};

const alias = 'cutover';
const sentinel = 'sentinel';
/** Number of prepared revisions, more than a run ever applies. */
const revisions = 200;
const applyEveryMs = 8_000;

/** Injects faults into an installation one after another while bindings are edited and requests are sent. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { say } = options;
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'unguarded' });
  await using cluster = await startLocalCluster({ upstream: upstream.url });
  const { client } = cluster;
  await applyFirst(client);
  const urls = cluster.gateways.map(({ process }) => process.now()?.url ?? '');
  await untilServed({ urls, key: chaosClientKey, alias });
  const traffic = startJudgedTraffic({ urls, key: chaosClientKey, alias, upstream });
  const churn = await startChurn(client);
  const applying = startApplying(client);
  const census = startCensus(cluster);
  makeNoise(cluster);
  const begun = performance.now();
  const faults = faultsOf(cluster, options.stormMs).filter(({ name }) => options.faults?.includes(name) ?? true);
  let recovery = { seconds: 0, after: '' };
  let rounds = 0;
  for (; performance.now() - begun < options.seconds * 1_000; rounds += 1) {
    const fault = faults[rounds % faults.length];
    if (fault === undefined) break;
    await fault.run();
    const seconds = await measureRecovery(client, rounds);
    say(
      `${fault.name}: well after ${seconds.toFixed(1)} s; ${traffic.requests()} requests, ${traffic.faults()} failed`,
    );
    if (seconds > recovery.seconds) recovery = { seconds, after: fault.name };
    await pause(1_000);
  }
  const seconds = (performance.now() - begun) / 1_000;
  stopNoise(cluster);
  await churn.stop();
  const applications = await applying.stop();
  // Streams keep their workload in use: after the last stream has ended only needed workloads may exist.
  const seen = await traffic.stop();
  const lost = await findLost(cluster, urls);
  const peaks = census.stop();
  const all = [...cluster.operators, ...cluster.gateways];
  return {
    seconds,
    rounds,
    edits: churn.edits(),
    applications,
    faults: all.reduce((sum, { proxy }) => sum + proxy.faults(), 0),
    recovery,
    lost,
    ...peaks,
    surprises: all.flatMap(({ name, process }) => process.surprises.map((words) => `${name}: ${words}`)),
    traffic: seen,
  };
}

async function applyFirst(client: KubeClient): Promise<void> {
  const revision = await writePolicy(client, policyOf(alias, markedDefinition(1, revisions)));
  await client.create(kinds.modelBinding, bindingOf(alias, alias, revision));
  const sentinelBinding = bindingObject(sentinel, { guardrail: { mode: 'None' } });
  const model = { ...sentinelBinding.spec.model, provider: 'scripted' };
  await client.create(kinds.modelBinding, { ...sentinelBinding, spec: { ...sentinelBinding.spec, model } });
  for (const name of [alias, sentinel]) await applied(client, name);
}

function applied(client: KubeClient, name: string, generation = 1): Promise<unknown> {
  const isApplied = async (): Promise<boolean> => {
    const binding = await bindingNow(client, name);
    return binding.metadata.generation >= generation && conditionOf(binding, 'Applied')?.status === 'True';
  };
  return until(`${name} is applied`, isApplied, { deadlineMs: 90_000, everyMs: 50 });
}

/** Seconds until a new edit is served by every gateway. */
async function measureRecovery(client: KubeClient, turn: number): Promise<number> {
  const begun = performance.now();
  const path = '/spec/model/upstreamModel';
  const edited = await until('the edit is accepted', () =>
    client.patch<ModelBinding>(kinds.modelBinding, sentinel, [{ op: 'replace', path, value: `model-${turn}` }]),
  );
  await applied(client, sentinel, edited.metadata.generation);
  return (performance.now() - begun) / 1_000;
}

/** Applies one revision after another to the alias under load. */
function startApplying(client: KubeClient) {
  let isOpen = true;
  let count = 0;
  async function applyNext(): Promise<void> {
    const wanted = count + 2;
    const revision = await until('the revision is recorded', () =>
      writePolicy(client, policyOf(alias, markedDefinition(wanted, revisions))),
    );
    const generation = await until('the spec of the binding names the revision', () =>
      applyRevision(client, alias, revision, `turn-${wanted}`),
    );
    await applied(client, alias, generation);
    count += 1;
  }
  async function run(): Promise<void> {
    while (isOpen) {
      await applyNext();
      await pause(applyEveryMs);
    }
  }
  const running = run();
  // An early failure must not count as an unhandled rejection: the caller receives it when the run stops.
  running.catch(() => undefined);
  return {
    async stop() {
      isOpen = false;
      await running;
      return count;
    },
  };
}

/** Samples the open sockets of processes periodically; without /proc no samples are taken. */
function startCensus({ operators, gateways }: LocalCluster) {
  let connections = 0;
  let sockets = 0;
  const timer = setInterval(() => {
    if (!hasProcessTable) return;
    for (const { process, proxy } of [...operators, ...gateways]) {
      const held = socketsOf(process.now()?.pid ?? 0);
      connections = Math.max(connections, connectionsTo(Number(new URL(proxy.url).port), held));
      sockets = Math.max(sockets, held.size);
    }
  }, 1_000);
  return {
    stop() {
      clearInterval(timer);
      return { connections, sockets };
    },
  };
}
