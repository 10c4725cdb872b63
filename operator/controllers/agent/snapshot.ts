import type { Agent } from '#resources/agent';
import type { AgentRouteSpec, RoutedVersion } from '#resources/agent-route';

/** The version that an Agent names. */
export type VersionView =
  /** No AgentVersion has this name. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'foreign'; readonly agent: string }
  | { readonly kind: 'deleting'; readonly versionId: string }
  /** The version is not ready; the message is that of its condition Ready. */
  | { readonly kind: 'unready'; readonly versionId: string; readonly message: string | undefined }
  /** The process reports at this moment that it is ready, and its card is verified. */
  | { readonly kind: 'proved'; readonly versionId: string; readonly routed: RoutedVersion };

/** One gateway replica that serves agents, and its report about this version of the route. */
export type AgentReplicaView = {
  readonly name: string;
  readonly ready: boolean;
  readonly loaded: boolean;
  readonly rejected: string | undefined;
};

export type AgentSnapshot = {
  readonly deleting: boolean;
  readonly hasFinalizer: boolean;
  /** Whether this installation runs agents. */
  readonly isConfigured: boolean;
  readonly generation: number;
  readonly spec: Agent['spec'];
  readonly identity: Pick<AgentRouteSpec, 'agentId' | 'agent' | 'exposure'>;
  /** The versions of the route that the replicas confirmed last. */
  readonly confirmed: Pick<NonNullable<Agent['status']>, 'served' | 'canary' | 'previous'>;
  readonly served: VersionView;
  readonly canary: VersionView | undefined;
  /** `foreign`: the route of a deleted Agent of this name. */
  readonly route: AgentRouteSpec | 'foreign' | undefined;
  /** The versions of the route that still exist, with their current addresses. */
  readonly listed: readonly RoutedVersion[];
  readonly replicas: readonly AgentReplicaView[];
  /**
   * `invalid`: the store cannot hold one of the names; the other rights are stored. `refused`: the tables of the store
   * belong to another release.
   */
  readonly rights: 'not_configured' | 'invalid' | 'unasked' | 'consistent' | 'away' | 'refused';
  /** Replicas that use a version of the agent, or that may not have seen the deletion of its route. */
  readonly users: readonly string[];
};
