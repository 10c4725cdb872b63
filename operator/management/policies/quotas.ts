import { canonicalBytes, digestOf } from '#contracts/canonical';
import type { PolicyReplace } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import type { GuardrailPolicySpec, PolicyTest } from '#resources/guardrail-policy';
import { storedBytes } from '../../revisions/fits-into-revision.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { operationOfToken } from './make-policy.ts';

export const policyQuotaNames = ['policies', 'revisions', 'bytes'] as const;
export type PolicyQuotaName = (typeof policyQuotaNames)[number];

/**
 * The limits of the objects that commands of this API store in an installation; revisions of deleted policies count,
 * too.
 */
export type QuotaLimits = Readonly<Record<PolicyQuotaName, number>>;

/** The growth by a save, in addition to one revision. */
type Addition = { readonly isNewPolicy: boolean; readonly bytes: number };

/** A save in the records of commands that may not be in the watch yet. */
export type RecordedSave = Addition & {
  readonly operationId: string;
  readonly policyId: string;
  /** The revision of the save, if the save has succeeded. */
  readonly revision: number | undefined;
};

export type QuotaErrorCode = 'policy_quota_reached' | 'revision_quota_reached' | 'storage_quota_reached';

export type Quotas = {
  /**
   * The code of the quota that a save would exceed; undefined if it fits.
   * @param recorded saves that also count, as far as the watch has not seen them
   */
  exceededBy(addition: Addition, recorded?: readonly RecordedSave[]): QuotaErrorCode | undefined;
  /** The time within which a save may have succeeded without being seen by the watch, milliseconds. */
  unseenMs(): number;
  /** The used part of each quota, 0 to 1 and above where resources were written by another way. */
  used(): Readonly<Record<PolicyQuotaName, number>>;
};

/**
 * How late a watch may report a change that the server has stored, in addition to the silence of the watch,
 * milliseconds.
 */
const watchDelayMs = 60_000;

/** The bytes that a revision of a definition and its tests adds. */
export function savedBytes(definition: Definition, tests: readonly PolicyTest[] = []): number {
  return storedBytes(canonicalBytes(definition).toString('utf8'), tests);
}

/**
 * Whether a save only archives its policy. Such a save needs no quota: a person who has reached a quota must be able to
 * end a policy. A policy can be archived only once until it is restored, and restoring needs quota, so that no client
 * can fill the store in this way.
 */
export function isOnlyArchiving(
  live: Pick<GuardrailPolicySpec, 'lifecycle' | 'definition'>,
  body: Pick<PolicyReplace, 'status' | 'definition'>,
): boolean {
  return (
    body.status === 'archived' && live.lifecycle === 'Draft' && digestOf(live.definition) === digestOf(body.definition)
  );
}

/**
 * Counts the objects of the watches and, in addition, recorded saves that the watches have not seen: the records of commands are common to
 * all replicas, so that saves at the same time do not exceed a quota (docs/decisions/0089).
 */
export function createQuotas(
  caches: Pick<ManagementCaches, 'stored' | 'revisions' | 'silenceMs'> & {
    readonly order: Pick<ManagementCaches['order'], 'size' | 'has'>;
  },
  limits: QuotaLimits,
): Quotas {
  function isSeen({ operationId, policyId, revision }: RecordedSave): boolean {
    return caches
      .revisions(policyId)
      .some(({ number, token }) => number === revision || operationOfToken(token)?.operationId === operationId);
  }

  return {
    exceededBy({ isNewPolicy, bytes: added }, recorded = []) {
      const { revisions, bytes } = caches.stored;
      const unseen = recorded.filter((save) => !isSeen(save));
      const newPolicies = recorded.filter((save) => save.isNewPolicy && !caches.order.has(save.policyId));
      const unseenBytes = unseen.reduce((sum, save) => sum + save.bytes, 0);
      if (isNewPolicy && caches.order.size + newPolicies.length + 1 > limits.policies) return 'policy_quota_reached';
      if (revisions + unseen.length + 1 > limits.revisions) return 'revision_quota_reached';
      return bytes + unseenBytes + added > limits.bytes ? 'storage_quota_reached' : undefined;
    },
    unseenMs: () => caches.silenceMs() + watchDelayMs,
    used() {
      const { revisions, bytes } = caches.stored;
      return {
        policies: caches.order.size / limits.policies,
        revisions: revisions / limits.revisions,
        bytes: bytes / limits.bytes,
      };
    },
  };
}
