import type { CheckClient } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import type { Clock } from '#kit/time/clock';
import type { ClientOptions, KubeClient } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { ReachPod } from '../agents/adapters/deployments/agent-looks.ts';
import type { AgentHost } from '../agents/ports.ts';
import type { VersionChecks } from '../agents/version-checks.ts';
import type { BundleStore, Judge } from '../bundles/ports.ts';
import type { AgentAuthority } from '../controllers/agent/controller.ts';
import type { CollectionService } from '../controllers/collection/controller.ts';
import type { LiveEnvironment } from '../environment/watch-environment.ts';
import type { GatewayReplicas } from '../gateways/ports.ts';
import type { ReconcileMeter } from '../reconcile/reconcile-metrics.ts';
import type { ServedPolicies } from '../served/ports.ts';
import type { Workloads } from '../workloads/ports.ts';
import type { Leadership, LeadershipLostError } from './leadership.ts';

/**
 * The parts of one installation mode: the resources, and an adapter for each port. The code that opened a part closes
 * it.
 */
export type Backend = {
  /** The API that holds the resources. */
  readonly apiUrl: string;
  readonly client: KubeClient;
  readonly environment: LiveEnvironment;
  /** Version of the runtime for new workloads. */
  readonly build: string;
  /** Digest of the pod template; absent without pods. */
  readonly template: string | undefined;
  readonly workloads: Workloads;
  readonly gateways: GatewayReplicas;
  readonly bundles: BundleStore;
  readonly served: ServedPolicies;
  /** The collections of the retrieval service; absent if the installation has no retrieval service. */
  readonly collections: CollectionService | undefined;
  /** The host of agents; absent if the installation does not run agents. */
  readonly agents: AgentHost | undefined;
  /** The rights on agents; absent if the operator has no store of relations for them. */
  readonly authority: AgentAuthority | undefined;
  readonly judge: Judge;
  readonly versionChecks: VersionChecks;
  readonly checks: CheckClient;
  /** Records events for users. */
  readonly events: EventRecorder;
  readonly leadership: Leadership;
  /** Resolves when the adapters are synced. */
  readonly synced: Promise<void>;
  /** The longest time, in milliseconds, since any watch of an adapter last received data. */
  silenceMs(): number;
};

/** Arguments common to both installation modes. */
export type BackendTools = {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly meter: ReconcileMeter;
  readonly onRequest: NonNullable<ClientOptions['onRequest']>;
};

/** Replacements for tests. */
export type OperatorOverrides = {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Wraps the client of the resources: counts, delays or fails calls. */
  readonly wrapClient?: (client: KubeClient) => KubeClient;
  /** Replace the adapters; the operator disposes of the workloads. */
  readonly workloads?: Workloads;
  readonly judge?: Judge;
  readonly versionChecks?: VersionChecks;
  readonly bundles?: BundleStore;
  readonly served?: ServedPolicies;
  readonly collections?: CollectionService;
  readonly agents?: AgentHost;
  /** Replaces the addresses of pods of agents. */
  readonly reachAgents?: ReachPod;
  readonly authority?: AgentAuthority;
  /** Receives the events of a standalone operator. */
  readonly events?: EventRecorder;
  /** Replaces the exit of the process. */
  readonly onLost?: (error: LeadershipLostError) => void;
};
