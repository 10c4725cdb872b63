import type { Command } from 'commander';
import type { BundleLimits } from '#contracts/bundle';
import type { BindingRead } from '#contracts/management';
import type { ApprovedProvider } from '#contracts/providers';
import type { KubeClient } from '#kube/client/client';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { CliError } from '../errors/cli-error.ts';
import type { LogReader } from '../logs/log-reader.ts';
import type { ResourceWriter } from './resource-writer.ts';

/** Options that select the server and namespace of the resources; each source accepts some of them. */
export type SourceOptions = {
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Empty for all namespaces, which can be listed only. */
  readonly namespace?: string;
  /** `resources` if absent, unless a server is named. */
  readonly via?: 'resources' | 'api';
  /** Origin of a management API. */
  readonly server?: string;
  readonly tokenFile?: string;
  /** Key of a repeated command of the management API. */
  readonly idempotencyKey?: string;
  /** Reason of the change. */
  readonly message?: string;
  /** Whether the server validates writes without storing them. */
  readonly isDryRun?: boolean;
  /** Timeout of one request in seconds. */
  readonly requestTimeout: number;
};

/** A process of the installation. */
export type ProcessView = {
  readonly name: string;
  readonly ready: boolean;
  /** False if it is known to be frozen; absent otherwise. */
  readonly answering?: boolean;
  /** Why it is not ready, if known. */
  readonly problem?: string;
};

/** The operator and its replicas. */
export type OperatorView = {
  /** `unknown` when the caller is not allowed to read it. */
  readonly state: 'leading' | 'absent' | 'unknown';
  /** The state of the process as a phrase that follows a colon, without a capital. */
  readonly message: string;
  readonly holder?: string;
  /** The leader of the operator; absent when the Lease does not exist. */
  readonly lease?: string;
  readonly replicas: readonly ProcessView[];
};

/** A fault of the installation itself that no Portcullis resource reports. */
export type InstallationProblem = {
  /** The component that it stops. */
  readonly component:
    | 'storage'
    | 'operator'
    | 'gateway'
    | 'management'
    | 'postgres'
    | 'echo'
    | 'issuer'
    | 'retrieval'
    | 'memory';
  /** The faulty process or object, such as `Process gateway-1`. */
  readonly part: string;
  /** Machine-readable reason, which also selects the remedy. */
  readonly reason: string;
  readonly message: string;
};

/** The processes of the installation; `gateways` is absent when the caller is not allowed to read them. */
export type Surroundings = {
  readonly operator: OperatorView;
  readonly gateways?: readonly ProcessView[];
  /** Problems that cause others come first. */
  readonly problems: readonly InstallationProblem[];
};

/** The settings of an installation that bundles depend on. */
export type JudgedEnvironment = { readonly approved: readonly ApprovedProvider[]; readonly limits: BundleLimits };

/** The resources of one namespace and the processes of the installation; disposing ends every request. */
export type OpenedResources = AsyncDisposable & {
  /** Reads; over the management API its writing methods are refused. */
  readonly client: KubeClient;
  readonly writer: ResourceWriter;
  /** Whether the transport shows a kind; it shows every kind if this is absent. */
  readonly shows?: (kind: Kind) => boolean;
  /** The logs of the processes; absent over the management API. */
  readonly logs?: LogReader;
  /** The state that the management API computes; absent where the resources are read. */
  readonly stateOf?: (binding: Stored<ModelBinding>) => Promise<BindingRead>;
  surroundings(): Promise<Surroundings>;
  /** The cause and the remedy of an error of the resource server; undefined when the cause is unknown. */
  explain(error: unknown): Promise<CliError | undefined>;
  /** @throws CliError when the installation is not found */
  environment(): Promise<JudgedEnvironment>;
};

/** Location of the resources: the only difference between portcullis and kubectl portcullis. */
export type ResourceSource = {
  /** The command name of the CLI, for messages that name a command to run. */
  readonly program: string;
  /** Adds the options that select the location; their values are SourceOptions. */
  addOptions(command: Command): Command;
  /** Adds the options of a command that writes. */
  addWriteOptions(command: Command): Command;
  /** @throws CliError, KubeconfigError */
  open(options: SourceOptions): Promise<OpenedResources>;
};
