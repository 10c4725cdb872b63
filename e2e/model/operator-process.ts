import { defaultBundleLimits } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { providersFileSchema } from '#contracts/providers';
import { createLogger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import { fenced } from '#kube/election/fenced-client';
import { startLeaderElection } from '#kube/election/leader-election';
import { silentRecorder } from '#kube/events/event-recorder';
import { createBundleConfigMaps } from '../../operator/bundles/adapters/config-maps/bundle-config-maps.ts';
import type { Judge } from '../../operator/bundles/ports.ts';
import { startCaches } from '../../operator/caches/caches.ts';
import { actAsLeader } from '../../operator/composition/act-as-leader.ts';
import type { Backend } from '../../operator/composition/backend.ts';
import type { Leadership } from '../../operator/composition/leadership.ts';
import { startControllers } from '../../operator/composition/start-controllers.ts';
import { workloadTemplateSchema } from '../../operator/environment/workload-template.ts';
import { createGatewayPods } from '../../operator/gateways/adapters/pods/gateway-pods.ts';
import type { ReconcileMeter } from '../../operator/reconcile/reconcile-metrics.ts';
import type { Death } from '../../operator/testing/mortal-client.ts';
import { createDeployments } from '../../operator/workloads/adapters/deployments/deployments.ts';
import { nothingServed } from './nothing-served.ts';
import { createUnreliableClient, type Network, type UnreliableClient } from './unreliable-client.ts';
import type { Life } from './virtual-time.ts';

const build = 'portcullis:1';
/** A term that makes a policy call a detector. */
export const asking = 'asking';
/** A policy with this term does not compile. */
export const uncompilable = 'uncompilable';
export const maxStreamMs = 60_000;
export const progressDeadlineMs = 120_000;

const template = workloadTemplateSchema.parse({ image: build, tokenSecret: 'token' });
const { providers } = providersFileSchema.parse({
  providers: [
    { name: 'echo', kind: 'model', endpoint: 'http://127.0.0.1:9/v1', enabled: true },
    { name: 'off', kind: 'model', endpoint: 'http://127.0.0.1:9/v1', enabled: false },
    { name: 'spam', kind: 'detector', endpoint: 'http://127.0.0.1:9/check', credential: 'spam-key' },
  ],
});
export const quietLogger = createLogger({ service: 'model', level: 'error', destination: { write: () => undefined } });

/** Wraps the client of an operator, so that a test can plant a defect. */
export type Sabotage = (client: KubeClient) => KubeClient;

export type OperatorProcess = {
  readonly life: Life;
  readonly client: UnreliableClient;
  isLeading(): boolean;
  /** Shuts down as after SIGTERM. */
  end(): Promise<void>;
};

/** A meter that records only unexpected errors. */
function meterOf(onSurprise: (controller: string) => void): ReconcileMeter {
  return {
    finished: () => undefined,
    surprised: onSurprise,
    measured: () => undefined,
    watch: () => undefined,
    requested: () => undefined,
    refresh: () => undefined,
  };
}

function judgeOf({ time, weather }: Network): Judge {
  return {
    async judge({ bytes }) {
      await time.delay(200 * time.random());
      if (!bytes.includes(uncompilable))
        return { kind: 'accepted', streaming: { allowed: true }, division: { allowed: true }, warnings: [] };
      return { kind: 'refused', reason: 'bundle_invalid', message: 'the rule forbidden does not compile' };
    },
    async check(_bundle, checks, { providers: remote }) {
      await time.delay(100 * time.random());
      const isAway = remote === 'called' && weather.providerAway;
      return checks.map(({ name }) => ({
        name,
        decision: isAway ? 'Failed' : 'Pass',
        code: isAway ? 'provider_unavailable' : undefined,
        rules: [],
      }));
    },
  };
}

/** The parts of an operator in a cluster, composed as in operator/composition/cluster.ts, on a simulated network. */
export function startOperatorProcess(
  network: Network,
  name: string,
  options: {
    readonly death?: Death | undefined;
    readonly onSurprise: (controller: string) => void;
    readonly sabotage?: Sabotage | undefined;
  },
): OperatorProcess {
  const { time } = network;
  const { clock } = time;
  const life = time.startLife(name);
  const client = createUnreliableClient(network, life, options.death);
  const parts = new AsyncDisposableStack();
  let isLeading: () => boolean = () => false;

  async function boot(): Promise<void> {
    const logger = quietLogger;
    const meter = meterOf(options.onSurprise);
    const election = parts.use(
      startLeaderElection({ client, name: 'portcullis-operator', identity: name, logger, clock, random: time.random }),
    );
    isLeading = () => election.writesAllowed();
    const safe = fenced(options.sabotage?.(client) ?? client, () => election.writesAllowed());
    const deployments = parts.use(
      createDeployments({ client: safe, template, clock, logger, meter, events: silentRecorder }),
    );
    const bundles = parts.use(createBundleConfigMaps({ client: safe, clock, logger }));
    const gateways = parts.use(createGatewayPods({ client: safe, clock, logger }));
    const leadership: Leadership = {
      elected: election.elected,
      lost: election.lost,
      problem: () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
    const backend: Backend = {
      apiUrl: '',
      client: safe,
      environment: {
        current: () => ({ approved: providers, limits: defaultBundleLimits, connections: [] }),
        onChange: () => undefined,
      },
      build,
      template: digestOf(template),
      workloads: deployments,
      gateways,
      bundles,
      served: nothingServed,
      collections: undefined,
      agents: undefined,
      authority: undefined,
      judge: judgeOf(network),
      checks: { check: unasked, probe: unasked, [Symbol.asyncDispose]: async () => undefined },
      versionChecks: { check: unasked },
      events: silentRecorder,
      leadership,
      synced: Promise.all([deployments.synced, bundles.synced, gateways.synced]).then(() => undefined),
      silenceMs: () => 0,
    };
    const caches = parts.use(startCaches({ client: safe, logger, clock }));
    await Promise.all([caches.synced, backend.synced]);
    const config = { maxStreamMs, progressDeadlineMs };
    const acting = parts.use(
      actAsLeader(leadership, () => startControllers({ config, backend, caches, clock, logger, meter })),
    );
    void acting.lost.then(() => life.kill());
  }

  time.runAs(life, () => void boot().catch(() => life.kill()));
  return {
    life,
    client,
    isLeading: () => life.state() === 'running' && isLeading(),
    async end() {
      await time.runAs(life, () => parts.disposeAsync());
      life.kill();
    },
  };
}

function unasked(): never {
  throw new TypeError('the simulation has no tests of policies and no versions of agents');
}
