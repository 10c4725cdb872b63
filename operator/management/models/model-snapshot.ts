import type { Application } from '../../applications/application.ts';
import type { OutcomeHistory } from '../../applications/outcome-history.ts';
import type { ReplicaView } from '../../applications/replica-views.ts';

/** Everything that decides what the API says about the binding of a model. */
export type ModelSnapshot = {
  readonly modelId: string;
  readonly gateway: string;
  /** metadata.generation of the binding. */
  readonly generation: number;
  /** The operation of this API that asked for what is wanted. */
  readonly operationId: string | null;
  readonly isModelOff: boolean;
  readonly isProviderOff: boolean;
  readonly desired: Application;
  readonly route: PinnedRoute | undefined;
  readonly ring: OutcomeHistory;
  /** The operator says of the wanted application that it is in progress, which it may be again after it failed. */
  readonly isInProgress: boolean;
  /** The replicas of the gateway that run, as their reports stand to the route. */
  readonly replicas: readonly ReplicaView[];
  readonly lastObservedAt: Date | undefined;
};

/** What the route of the binding says. */
export type PinnedRoute = {
  readonly generationId: string;
  readonly digest: string | null;
  readonly application: Application;
  readonly refused:
    | { readonly token: string; readonly contentDigest: string; readonly generationId: string; readonly reason: string }
    | undefined;
};
