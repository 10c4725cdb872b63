import type { Stage } from '#contracts/policy';

/** Where a section stands: in metrics, problems and warnings. */
export type SectionPlace = { readonly policyId: string; readonly stage: Stage };
