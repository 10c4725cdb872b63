import type { ApiError, ApiRequest, ApiResponse } from '#api/operation';
import type { AuditLog } from '#audit/ports';
import type { Health } from '#contracts/retrieval';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Semaphore } from '#kit/concurrency/semaphore';
import type { Turns } from '#kit/concurrency/turns';
import type { ByteBudget } from '#kit/http/byte-budget';
import type { Clock } from '#kit/time/clock';
import type { ApprovedProfiles } from '#models/approved-profiles';
import type { ObjectStore } from '#objects/ports';
import type { RecordedChanges } from '#relations/changes/recorded-changes';
import type { Relations } from '#relations/ports';
import type { SubmitLimit, TenantQuota } from '../ingest/submit/check-quota.ts';
import type { TokenCounter } from '../pack/pack-context.ts';
import type { SearchPorts } from '../query/search-collection.ts';

/** The dependencies that all operations of a retrieval process share. */
export type Retrieval = SearchPorts & {
  readonly relations: Relations;
  readonly relationChanges: RecordedChanges;
  readonly objects: ObjectStore;
  readonly profiles: () => ApprovedProfiles;
  /** The policy for a collection that is created without one. */
  readonly defaultEmptyAclPolicy: 'reject' | 'strictest';
  readonly tenantQuota: TenantQuota;
  /** Bound of the index in this process, bytes; undefined where another program holds the index. */
  readonly mostIndexBytes: number | undefined;
  readonly onLimitReached: (limit: SubmitLimit) => void;
  readonly countTokens: TokenCounter;
  /** The whole texts that requests hold to pack them. */
  readonly wholeTexts: ByteBudget;
  /** In which long answers are made. */
  readonly turns: Turns;
  /** Limits concurrent creations: each holds one database connection while the store of rights may need another. */
  readonly creations: Semaphore;
  /** Time after which an evaluation starts no more queries, milliseconds. */
  readonly evaluationMs: number;
  readonly newId: () => string;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly clock: Clock;
  /** Notifies workers that work may be waiting. */
  readonly hint: () => void;
  readonly health: () => Promise<Health>;
};

export type RetrievalRequest = ApiRequest<Retrieval, TenantCaller>;
export type RetrievalResponse = ApiResponse<RetrievalErrorCode>;
export type RetrievalError = ApiError<RetrievalErrorCode>;
