import type { Command } from 'commander';
import type { BundleLimits } from '#contracts/bundle';
import type { BindingRead } from '#contracts/management';
import type { Overview } from '#contracts/overview';
import type { ApprovedProvider } from '#contracts/providers';
import type { Surroundings } from '#diagnosis/surroundings';
import type { Manifest } from '#kube/apply/read-manifests';
import type { KubeClient } from '#kube/client/client';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { CliError } from '../errors/cli-error.ts';
import type { LogReader } from '../logs/log-reader.ts';
import type { ResourceWriter } from './resource-writer.ts';

/** Options that select the server and namespace of the resources; each source accepts some of them. */
export type SourceOptions = {
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Name of the namespace; empty for all namespaces, which can only be listed. */
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
  /** Whether commands of the management API take effect even in freeze windows. */
  readonly overrideFreeze?: boolean;
  /** Whether the server only validates writes without storing them. */
  readonly isDryRun?: boolean;
  /** Timeout of one request, seconds. */
  readonly requestTimeout: number;
};

/** The settings of an installation that bundles depend on. */
export type JudgedEnvironment = { readonly approved: readonly ApprovedProvider[]; readonly limits: BundleLimits };

/** The resources of one namespace and the processes of the installation; disposing ends every request. */
export type OpenedResources = AsyncDisposable & {
  /** Reads; over the management API its writing methods are refused. */
  readonly client: KubeClient;
  readonly writer: ResourceWriter;
  /** Whether the source can show a kind; if absent, it can show every kind. */
  readonly shows?: (kind: Kind) => boolean;
  /**
   * The object that a manifest changes, which may have another name; absent if it is the object with the name in the
   * manifest.
   */
  readonly objectOf?: (manifest: Pick<Manifest, 'kind' | 'resource'>) => Promise<Stored<Resource> | undefined>;
  /** The state that the management API computes; absent where the resources are read. */
  readonly stateOf?: (binding: Stored<ModelBinding>) => Promise<BindingRead>;
  /** Every model as the management API explains it; absent where the resources are read. */
  readonly overview?: () => Promise<Overview>;
  /**
   * The difference as the management API computes it; undefined for revisions that are too large for the API. Absent if
   * resources are read directly.
   */
  readonly revisionDiff?: (policyId: string, from: number, to: number) => Promise<string | undefined>;
  surroundings(): Promise<Surroundings>;
  /** The cause and the remedy of an error of the resource server; undefined when the cause is unknown. */
  explain(error: unknown): Promise<CliError | undefined>;
  /** @throws CliError when the installation is not found */
  environment(): Promise<JudgedEnvironment>;
};

/** The logs of the processes of an installation; disposing ends every request. */
export type OpenedLogs = AsyncDisposable & {
  readonly logs: LogReader;
  /** A sentence for the case that no process writes to the logs any more. */
  readonly ended?: string;
  /** The cause and the remedy of an error of the server that passes the logs on; undefined when the cause is unknown. */
  explain(error: unknown): Promise<CliError | undefined>;
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
  /** @throws CliError usage over the management API, not_running; KubeconfigError */
  openLogs(options: SourceOptions): Promise<OpenedLogs>;
};
