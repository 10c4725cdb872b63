import { canonicalBytes, digestOf } from '#contracts/canonical';
import type { PolicyReplace } from '#contracts/management';
import type { Definition } from '#contracts/policy';
import type { GuardrailPolicySpec, PolicyTest } from '#resources/guardrail-policy';
import { storedBytes } from '../../revisions/fits-into-revision.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';

export const policyQuotaNames = ['policies', 'revisions', 'bytes'] as const;
export type PolicyQuotaName = (typeof policyQuotaNames)[number];

/** The most that commands of this API let an installation hold; revisions of deleted policies count. */
export type QuotaLimits = Readonly<Record<PolicyQuotaName, number>>;

/** What a command adds besides one revision. */
type Addition = {
  readonly isNewPolicy: boolean;
  readonly definition: Definition;
  readonly tests?: readonly PolicyTest[] | undefined;
};

type QuotaErrorCode = 'policy_quota_reached' | 'revision_quota_reached' | 'storage_quota_reached';

export type Quotas = {
  /** The code of the quota that the command would exceed; undefined if it fits. */
  exceededBy(addition: Addition): QuotaErrorCode | undefined;
  /** The used part of each quota, 0 to 1 and above where resources were written by another way. */
  used(): Readonly<Record<PolicyQuotaName, number>>;
};

/**
 * Whether a save only archives its policy. It needs no quota: who has reached one must be able to end a policy. A policy
 * is archived once until it is restored, which needs a quota, so that no client fills the store with it.
 */
export function isOnlyArchiving(
  live: Pick<GuardrailPolicySpec, 'lifecycle' | 'definition'>,
  body: Pick<PolicyReplace, 'status' | 'definition'>,
): boolean {
  return (
    body.status === 'archived' && live.lifecycle === 'Draft' && digestOf(live.definition) === digestOf(body.definition)
  );
}

/** Counts what the watches have seen: commands that run at the same time may exceed a quota by what they write. */
export function createQuotas(
  caches: { readonly order: Pick<ManagementCaches['order'], 'size'>; readonly stored: ManagementCaches['stored'] },
  limits: QuotaLimits,
): Quotas {
  return {
    exceededBy({ isNewPolicy, definition, tests = [] }) {
      const { revisions, bytes } = caches.stored;
      if (isNewPolicy && caches.order.size + 1 > limits.policies) return 'policy_quota_reached';
      if (revisions + 1 > limits.revisions) return 'revision_quota_reached';
      const added = storedBytes(canonicalBytes(definition).toString('utf8'), tests);
      return bytes + added > limits.bytes ? 'storage_quota_reached' : undefined;
    },
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
