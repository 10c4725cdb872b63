import type { z } from 'zod';
import type { ApiError, ApiRequest, ApiResponse } from '#api/operation';
import type { AuditLog } from '#audit/ports';
import type { memoryHealthSchema } from '#contracts/memory';
import type { MemoryErrorCode } from '#contracts/memory-errors';
import type { TenantCaller } from '#identity/tenant-caller';
import type { Clock } from '#kit/time/clock';
import type { SearchIndex } from '#search/ports';
import type { IndexRoom } from '../people/index-room.ts';
import type { LoadedIndex } from '../people/memory-partition.ts';
import type { MemoryQuota, QuotaName } from '../people/memory-quota.ts';
import type { MemorySearchPorts } from '../search/search-memories.ts';

/** The dependencies that all operations of a memory process share. */
export type Memory = MemorySearchPorts & {
  readonly index: SearchIndex & LoadedIndex;
  /** Whether the settings name an embedding profile; the profile need not be approved at present. */
  readonly isProfileNamed: boolean;
  readonly newId: () => string;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly clock: Clock;
  /** The share of the index that the memories of one person may use. */
  readonly room: () => IndexRoom;
  readonly quota: MemoryQuota;
  readonly onQuotaReached: (quota: QuotaName) => void;
  /** Notifies workers that work may be waiting. */
  readonly hint: () => void;
  /** Notifies the other replicas that a person was erased. */
  readonly announceErasure: () => void;
  /** Called when a request was answered although the models did not answer. */
  readonly onModelsAway: (error: unknown) => void;
  readonly health: () => Promise<z.output<typeof memoryHealthSchema>>;
};

export type MemoryRequest = ApiRequest<Memory, TenantCaller>;
export type MemoryResponse = ApiResponse<MemoryErrorCode>;
export type MemoryError = ApiError<MemoryErrorCode>;
