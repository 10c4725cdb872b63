import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ProviderList } from '#contracts/management';
import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import type { ManagementCaches } from '../caches.ts';
import type { ManagementMetrics } from '../metrics.ts';
import type { ModelReader } from '../models/read-model.ts';
import type { CommandPorts } from '../operations/execute-command.ts';
import type { GenerationRecorder } from '../policies/record-generation.ts';
import type { Access } from './access.ts';

/** What the operations of one process share. */
export type Management = {
  readonly access: Access;
  readonly client: KubeClient;
  readonly caches: ManagementCaches;
  readonly commands: CommandPorts;
  readonly recorder: GenerationRecorder;
  readonly models: ModelReader;
  readonly providers: ProviderList;
  readonly metrics: ManagementMetrics;
  readonly logger: Logger;
  readonly newId: () => string;
  /** How long a repetition waits for the command that is being carried out, milliseconds. */
  readonly duplicateWaitMs: number;
};

/** One request of somebody who may administer. */
export type Exchange = {
  readonly management: Management;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The parameters of the path by name, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly traceId: string;
  /** The subject that keys belong to. */
  readonly subject: string;
};
