import type { Stage } from '#contracts/policy';

/** The place of a section in metrics, problems and warnings. */
export type SectionPlace = { readonly policyId: string; readonly stage: Stage };
