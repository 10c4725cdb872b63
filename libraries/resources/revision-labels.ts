import { sha256Hex } from '#contracts/canonical';

/** Labels that select the revisions of a policy; the name is hashed because a label value has at most 63 characters. */
export const policyIdLabel = 'portcullis.dev/policy-id';
/**
 * Label of a RuntimeWorkload, in addition to `policyIdLabel`: the number of the revision that its bundle was built
 * from.
 */
export const policyRevisionLabel = 'portcullis.dev/policy-revision';
export const policyNameLabel = 'portcullis.dev/policy-name-hash';

/** The value of `policyNameLabel`. */
export function policyNameHash(name: string): string {
  return sha256Hex(name).slice(0, 40);
}
