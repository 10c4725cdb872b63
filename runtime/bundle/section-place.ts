import type { Stage } from '#contracts/policy';

/** Where a section stands: in messages, metrics and problems. */
export type SectionPlace = { readonly policyId: string; readonly stage: Stage };

/** A sentence about one rule that names it and its place. */
export function sentence({ policyId, stage }: SectionPlace, rule: string, reason: string): string {
  return `policy ${policyId}, ${stage}, rule ${rule}: ${reason}`;
}
