import { z } from 'zod';

/** How the checks of one request ended. */
const activityOutcomes = ['passed', 'masked', 'denied', 'check_failed'] as const;

/**
 * One decision of a gateway: facts about a request whose checks ended, never its text, its key or an answer. Every text
 * member is bounded by the schema it comes from.
 */
const decisionRecordSchema = z.strictObject({
  /** When the request ended, RFC 3339 in UTC. */
  time: z.string().max(32),
  /** The value of `x-request-id` in the answer. */
  requestId: z.string().max(64),
  /** The alias of the binding. */
  model: z.string().max(128),
  /** The name of the client key; absent where the key has no name. */
  client: z.string().max(64).optional(),
  outcome: z.enum(activityOutcomes),
  /** The stage that decided; `none` where nothing was denied or masked and no check failed. */
  stage: z.enum(['none', 'request', 'response']),
  /** Why a check failed. */
  code: z.string().max(64).optional(),
  /** The id of the rule that decided; absent where no rule did. */
  rule: z.string().max(128).optional(),
  /** The id and revision number of the policy. */
  policyId: z.string().max(128),
  revision: z.string().max(64),
});
export type DecisionRecord = z.infer<typeof decisionRecordSchema>;

/** The answer of GET /activity: newest first. */
export const activitySchema = z.strictObject({ items: z.array(decisionRecordSchema) });

/** Records that one replica keeps: requests that a rule changed or a check stopped, and apart from them those that passed. */
export const activityLimits = { decided: 500, passed: 500 } as const;
