import type { Application } from '../../applications/application.ts';
import type { OutcomeHistory } from '../../applications/outcome-history.ts';
import type { ReplicaView } from '../../applications/replica-views.ts';

/** The data from which the state of a binding is computed. */
export type ModelSnapshot = {
  readonly modelId: string;
  readonly gateway: string;
  /** metadata.generation of the binding. */
  readonly generation: number;
  /** The operation of this API that set the desired state. */
  readonly operationId: string | null;
  readonly isModelOff: boolean;
  readonly isProviderOff: boolean;
  readonly desired: Application;
  readonly route: PinnedRoute | undefined;
  /** The application history, newest first. */
  readonly history: OutcomeHistory;
  /** Whether the operator reports the desired application as in progress, including a retry after a failure. */
  readonly isInProgress: boolean;
  /** The running replicas of the gateway, compared with the route. */
  readonly replicas: readonly ReplicaView[];
  readonly lastObservedAt: Date | undefined;
};

/** The application that the route pins. */
export type PinnedRoute = {
  readonly generationId: string;
  readonly digest: string | null;
  readonly application: Application;
  readonly refused:
    | { readonly token: string; readonly contentDigest: string; readonly generationId: string; readonly reason: string }
    | undefined;
};
