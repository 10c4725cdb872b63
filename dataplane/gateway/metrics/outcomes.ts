/** Outcomes of a request, as they appear in metrics and log lines. */
export const outcomeNames = [
  'passed',
  'masked',
  'denied',
  'check_failed',
  'refused',
  'unavailable',
  'upstream_error',
  'interrupted',
  'internal',
] as const;
export type OutcomeName = (typeof outcomeNames)[number];
