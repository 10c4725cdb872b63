import type { ApiError, ApiRequest, ApiResponse } from '#api/operation';
import type { AuditLog } from '#audit/ports';
import type { ProviderList } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { Overview } from '#contracts/overview';
import type { ApprovedProvider } from '#contracts/providers';
import type { KubeClient } from '#kube/client/client';
import type { RightChanges } from '../access/change-rights.ts';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { SubjectTurns } from '../access/subject-turns.ts';
import type { ActivityCollector } from '../activity/collect-activity.ts';
import type { ProviderTests } from '../activity/test-providers.ts';
import type { DevelopmentPersons } from '../agents/development-persons.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { DryRunner } from '../dry-runs/run-dry.ts';
import type { ModelReader } from '../models/read-model.ts';
import type { ApprovalStore } from '../operations/approval-ports.ts';
import type { CommandPorts } from '../operations/execute-command.ts';
import type { FreezeStore } from '../operations/freeze-ports.ts';
import type { OperationLog } from '../operations/operation-log.ts';
import type { GenerationRecorder } from '../operations/record-generation.ts';
import type { Settling } from '../operations/settle-loop.ts';
import type { DefinitionChecker } from '../policies/check-definition.ts';
import type { Quotas } from '../policies/quotas.ts';
import type { RevisionPurges } from '../purges/purge-revision.ts';

/** The dependencies that all operations of a management process share. */
export type Management = {
  readonly client: KubeClient;
  readonly caches: ManagementCaches;
  readonly commands: CommandPorts;
  /** Limits the concurrent commands of each subject. */
  readonly turns: SubjectTurns;
  readonly recorder: GenerationRecorder;
  readonly models: ModelReader;
  readonly providers: () => ProviderList;
  readonly overview: (reading: { readonly isOwnOnly: boolean }) => Promise<Overview>;
  readonly approved: () => readonly ApprovedProvider[];
  readonly checkDefinition: DefinitionChecker;
  readonly dryRun: DryRunner;
  readonly quotas: Pick<Quotas, 'exceededBy'>;
  readonly activity: ActivityCollector;
  readonly providerTests: ProviderTests;
  readonly settling: Pick<Settling, 'lookAt'>;
  readonly rightChanges: RightChanges;
  readonly purges: RevisionPurges;
  readonly approvals: ApprovalStore;
  readonly freezes: FreezeStore;
  readonly operationLog: OperationLog;
  readonly audit: Pick<AuditLog, 'read' | 'chains'>;
  /** Undefined if every owner of an agent can be identified by a token. */
  readonly developmentPersons: DevelopmentPersons | undefined;
  readonly newId: () => string;
  /** How long a repeated request waits for the command in progress, milliseconds. */
  readonly duplicateWaitMs: number;
};

/** A request whose token belongs to an administrator. */
export type ManagementRequest = ApiRequest<Management, ManagementCaller>;
export type ManagementError = ApiError<ManagementErrorCode>;
export type ManagementResponse = ApiResponse<ManagementErrorCode>;
