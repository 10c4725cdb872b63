/**
 * Outcomes of a request, as they appear in metrics and log lines. `answer_too_long`: the answer exceeds a limit of one
 * check, so that no check was made; unlike `check_failed`, it is not caused by the runtime.
 */
export const outcomeNames = [
  'passed',
  'masked',
  'denied',
  'check_failed',
  'answer_too_long',
  'refused',
  'unavailable',
  'upstream_error',
  'interrupted',
  'internal',
] as const;
export type OutcomeName = (typeof outcomeNames)[number];
