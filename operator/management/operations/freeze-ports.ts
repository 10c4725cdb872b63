import type { AuditContent } from '#contracts/audit';
import type { Freeze } from '#contracts/freezes';

/** Freeze windows. Every method throws RecordsUnavailableError. */
export type FreezeStore = {
  /** Windows that have not ended, in the order of time. */
  list(): Promise<readonly Freeze[]>;
  /**
   * Adds a window with its audit entry, in one transaction, unless `isAllowed` refuses while the lock of all changes of
   * rights is held. @returns `full` if the maximum number of windows is reached
   */
  add(
    freeze: Freeze,
    options: { readonly isAllowed: () => Promise<boolean>; readonly entry: AuditContent },
  ): Promise<'added' | 'full' | 'not_allowed'>;
  /**
   * Removes a window that has not ended, with its audit entry, unless `isAllowed` refuses while the same lock is held.
   */
  remove(
    id: string,
    options: { readonly isAllowed: () => Promise<boolean>; readonly entryOf: (freeze: Freeze) => AuditContent },
  ): Promise<Freeze | 'unknown' | 'not_allowed'>;
  /**
   * The end of the last window that is in force now for these objects, written as type:id; undefined if there is none.
   */
  inForce(objects: readonly string[]): Promise<Date | undefined>;
  /**
   * The end of the last window that is in force now for a stored command; undefined if there is none, or if the command
   * overrides it.
   */
  frozenUntil(operationId: string): Promise<Date | undefined>;
};
