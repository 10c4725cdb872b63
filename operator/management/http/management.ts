import type { ApiError, ApiRequest, ApiResponse } from '#api/operation';
import type { ProviderList } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { KubeClient } from '#kube/client/client';
import type { ActivityCollector } from '../activity/collect-activity.ts';
import type { ProviderTests } from '../activity/test-providers.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { ModelReader } from '../models/read-model.ts';
import type { CommandPorts } from '../operations/execute-command.ts';
import type { GenerationRecorder } from '../operations/record-generation.ts';

/** The dependencies that all operations of a management process share. */
export type Management = {
  readonly client: KubeClient;
  readonly caches: ManagementCaches;
  readonly commands: CommandPorts;
  readonly recorder: GenerationRecorder;
  readonly models: ModelReader;
  readonly providers: () => ProviderList;
  readonly activity: ActivityCollector;
  readonly providerTests: ProviderTests;
  readonly newId: () => string;
  /** How long a repeated request waits for the command that is in progress, milliseconds. */
  readonly duplicateWaitMs: number;
};

/** A request of an administrator; `caller` is the subject that idempotency keys belong to. */
export type ManagementRequest = ApiRequest<Management, string>;
export type ManagementError = ApiError<ManagementErrorCode>;
export type ManagementResponse = ApiResponse<ManagementErrorCode>;
