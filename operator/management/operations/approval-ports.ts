import type { Approval, ApprovalKind } from '#contracts/approvals';
import type { AuditAuthor, AuditContent, AuditState } from '#contracts/audit';
import type { ApprovalDemand } from './approval-demand.ts';
import type { CommandTarget } from './command-record.ts';

/** A person of an approval, whose right is checked again. */
export type ApprovingPerson = {
  readonly author: AuditAuthor;
  /** Groups of the token, as objects of relations. */
  readonly groups: readonly string[];
};

/** A command that waits for an approval. */
type ApprovalRequest = {
  readonly kind: ApprovalKind;
  readonly target: CommandTarget;
  readonly digest: string;
  readonly after: AuditState | null;
  /** Issuer and subject in one text. */
  readonly requester: string;
  readonly author: AuditAuthor;
};

/** Approvals and the rules that require them. Every method throws RecordsUnavailableError. */
export type ApprovalStore = {
  /** Requests and approvals that have not expired and were not used, the newest first; at most 500. */
  list(): Promise<readonly Approval[]>;
  get(id: string): Promise<Approval | undefined>;
  /**
   * Stores a request; while it is valid, an equal request of the same person counts as the same request. @returns the
   * id of the request
   */
  request(request: ApprovalRequest): Promise<string>;
  /**
   * Approves a request that has neither expired nor been used, with its audit entry in one transaction, unless
   * `isAllowed` refuses while the lock of all changes of rights is held. @returns whether it was approved
   */
  approve(
    id: string,
    by: ApprovingPerson & { readonly subject: string },
    options: { readonly isAllowed: () => Promise<boolean>; readonly entry: AuditContent },
  ): Promise<'approved' | 'not_allowed' | 'gone'>;
  /**
   * The person whose approval a command used, and whether the approval is still valid; undefined if the command used no
   * approval.
   */
  approverOf(operationId: string): Promise<(ApprovingPerson & { readonly isValid: boolean }) | undefined>;
  /** Whether a policy or model requires an approval of a stored command that used none. */
  isLacking(operationId: string): Promise<boolean>;
  /**
   * The approval that a command of this person needs now, without using it: `open` is the id of its request, if there
   * is one, and `approver` gave a valid approval. Undefined if no policy or model requires an approval.
   */
  needed(
    demand: ApprovalDemand,
    requester: string,
  ): Promise<{ readonly open: string | undefined; readonly approver: ApprovingPerson | undefined } | undefined>;
  rules(): Promise<readonly CommandTarget[]>;
  /**
   * Changes an approval rule and adds the audit entry, unless `isAllowed` refuses while the lock of all changes of
   * rights is held.
   */
  setRule(
    target: CommandTarget,
    isRequired: boolean,
    options: { readonly isAllowed: () => Promise<boolean>; readonly entry: AuditContent },
  ): Promise<'changed' | 'unchanged' | 'not_allowed'>;
};
