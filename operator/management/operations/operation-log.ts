import type { OperationKind, OperationState } from '#contracts/management';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { CommandRecord } from './command-record.ts';

/** Which operations a list contains; an absent member does not restrict the list. */
export type OperationFilter = {
  readonly operationId?: string | undefined;
  readonly kind?: OperationKind | undefined;
  readonly state?: OperationState | undefined;
  readonly targetId?: string | undefined;
  /** Claim sub of the author. */
  readonly subject?: string | undefined;
  /** Only operations of exactly this author, with the same act chain. */
  readonly author?: ManagementCaller['author'] | undefined;
};

/** The operations that are kept, for people. Throws RecordsUnavailableError. */
export type OperationLog = {
  /**
   * A page, the newest command first.
   * @param after the id of the last operation of the previous page
   * @returns `more`: whether an older operation exists
   */
  page(
    filter: OperationFilter,
    page: { readonly limit: number; readonly after: string | undefined },
  ): Promise<{ readonly records: readonly CommandRecord[]; readonly more: boolean }>;
};
