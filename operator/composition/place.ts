import type { CheckClient } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import type { Clock } from '#kit/time/clock';
import type { ClientOptions, KubeClient } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { BundleStore, Judge } from '../bundles/ports.ts';
import type { Environment } from '../environment/read-environment-files.ts';
import type { GatewayReplicas } from '../gateways/ports.ts';
import type { ReconcileMeter } from '../reconcile/reconcile-metrics.ts';
import type { ServedPolicies } from '../served/ports.ts';
import type { Workloads } from '../workloads/ports.ts';
import type { Leadership, LeadershipLostError } from './leadership.ts';

/** What one way to run brings: the resources, and an adapter for each port. Whoever opened the parts closes them. */
export type Place = {
  /** Where the resources are. */
  readonly apiUrl: string;
  readonly client: KubeClient;
  readonly environment: Environment;
  /** Version of the runtime that new workloads are made of. */
  readonly build: string;
  /** Digest of what pods are made of, where there are pods. */
  readonly template: string | undefined;
  readonly workloads: Workloads;
  readonly gateways: GatewayReplicas;
  readonly bundles: BundleStore;
  readonly served: ServedPolicies;
  readonly judge: Judge;
  readonly checks: CheckClient;
  /** Tells people what happened, where they can look at it. */
  readonly events: EventRecorder;
  readonly leadership: Leadership;
  /** Resolves when the adapters know what there is. */
  readonly synced: Promise<void>;
  /** The longest time, in milliseconds, for which a watch of an adapter has not heard of its server. */
  silenceMs(): number;
};

/** What every place is opened with. */
export type PlaceTools = {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly meter: ReconcileMeter;
  readonly onRequest: NonNullable<ClientOptions['onRequest']>;
};

/** What tests put in the place of adapters. */
export type OperatorOverrides = {
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** Stands between the operator and the resources: counts, delays or breaks calls. */
  readonly wrapClient?: (client: KubeClient) => KubeClient;
  /** Stand for the adapters; the operator disposes of the workloads. */
  readonly workloads?: Workloads;
  readonly judge?: Judge;
  readonly bundles?: BundleStore;
  readonly served?: ServedPolicies;
  /** Stands for the end of the process. */
  readonly onLost?: (error: LeadershipLostError) => void;
};
