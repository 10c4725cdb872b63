import { sha256Hex } from '#contracts/canonical';

/** Labels by which the revisions of a policy are listed; a label value holds at most 63 characters. */
export const policyIdLabel = 'portcullis.dev/policy-id';
export const policyNameLabel = 'portcullis.dev/policy-name-hash';

/** The value of `policyNameLabel`. */
export function policyNameHash(name: string): string {
  return sha256Hex(name).slice(0, 40);
}
