import type { Command } from 'commander';
import type { BundleLimits } from '#contracts/bundle';
import type { ApprovedProvider } from '#contracts/providers';
import type { KubeClient } from '#kube/client/client';

/** What a command line may be told about where the resources are; each source knows some of it. */
export type SourceOptions = {
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
  /** Seconds that one request may take. */
  readonly requestTimeout: number;
};

/** A process that runs beside the resources. */
export type ProcessView = {
  readonly name: string;
  readonly ready: boolean;
  /** Why it is not ready, as far as whoever runs it says so. */
  readonly problem?: string;
};

/** Who acts upon the resources. */
export type OperatorView = {
  /** `unknown` where that could not be looked at. */
  readonly state: 'acts' | 'absent' | 'unknown';
  /** The state as a sentence. */
  readonly message: string;
  readonly holder?: string;
  readonly lease?: string;
  readonly replicas: readonly ProcessView[];
};

/** What runs beside the resources; `gateways` is absent where that could not be looked at. */
export type Surroundings = {
  readonly operator: OperatorView;
  readonly gateways?: readonly ProcessView[];
};

/** What bundles are built with. */
export type JudgedEnvironment = { readonly approved: readonly ApprovedProvider[]; readonly limits: BundleLimits };

/** The resources of one namespace and what is around them; disposing ends every request. */
export type OpenedResources = AsyncDisposable & {
  readonly client: KubeClient;
  surroundings(): Promise<Surroundings>;
  /** @throws CliError where it cannot be found */
  environment(): Promise<JudgedEnvironment>;
};

/** Where the resources are: the one thing in which two command lines with the same commands differ. */
export type ResourceSource = {
  /** The words with which the command line is called, for sentences that say what to do. */
  readonly program: string;
  /** Adds the options that say where; what they give are SourceOptions. */
  addOptions(command: Command): Command;
  /** @throws CliError, KubeconfigError */
  open(options: SourceOptions): Promise<OpenedResources>;
};
