import type { Command } from 'commander';
import type { BundleLimits } from '#contracts/bundle';
import type { ApprovedProvider } from '#contracts/providers';
import type { KubeClient } from '#kube/client/client';

/** Options that name the place of the resources; each source takes some of them. */
export type SourceOptions = {
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** Timeout of one request in seconds. */
  readonly requestTimeout: number;
};

/** A process that runs beside the resources. */
export type ProcessView = {
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, where that is known. */
  readonly problem?: string;
};

/** The operator and its replicas. */
export type OperatorView = {
  /** `unknown` when the caller is not allowed to look. */
  readonly state: 'leading' | 'absent' | 'unknown';
  /** The state in words, without a capital: it follows a colon. */
  readonly message: string;
  readonly holder?: string;
  /** Absent when the Lease does not exist. */
  readonly lease?: string;
  readonly replicas: readonly ProcessView[];
};

/** The processes beside the resources; `gateways` is absent when the caller is not allowed to look. */
export type Surroundings = {
  readonly operator: OperatorView;
  readonly gateways?: readonly ProcessView[];
};

/** The settings of an installation that bundles depend on. */
export type JudgedEnvironment = { readonly approved: readonly ApprovedProvider[]; readonly limits: BundleLimits };

/** The resources of one namespace and the processes beside them; disposing ends every request. */
export type OpenedResources = AsyncDisposable & {
  readonly client: KubeClient;
  surroundings(): Promise<Surroundings>;
  /** @throws CliError where it cannot be found */
  environment(): Promise<JudgedEnvironment>;
};

/** Where the resources are: the only difference between portcullis and kubectl portcullis. */
export type ResourceSource = {
  /** How the command line is called, for messages that name a command to run. */
  readonly program: string;
  /** Adds the options that choose the place; their values are SourceOptions. */
  addOptions(command: Command): Command;
  /** @throws CliError, KubeconfigError */
  open(options: SourceOptions): Promise<OpenedResources>;
};
