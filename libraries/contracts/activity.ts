import { z } from 'zod';
import { providerCauses } from './provider-causes.ts';

/** How the checks of one request ended. */
const activityOutcomes = ['passed', 'masked', 'denied', 'check_failed'] as const;

/**
 * One decision of a gateway: facts about a request whose checks ended, never its text, its key or an answer. The length
 * of every text member is limited by its schema.
 */
const decisionRecordSchema = z.strictObject({
  /** The time at which the request ended, RFC 3339 in UTC. */
  time: z.string().max(32),
  /** The value of `x-request-id` in the answer. */
  requestId: z.string().max(64),
  /** The alias of the binding. */
  model: z.string().max(128),
  /** The name of the client key; absent where the key has no name. */
  client: z.string().max(64).optional(),
  outcome: z.enum(activityOutcomes),
  /** The stage that decided; `none` if no text was denied or masked and no check failed. */
  stage: z.enum(['none', 'request', 'response']),
  /** The reason why a check failed. */
  code: z.string().max(64).optional(),
  /** The id of the rule that decided; absent where no rule did. */
  rule: z.string().max(128).optional(),
  /** The detector or classifier of the rule that did not judge, and why; absent where a check failed otherwise. */
  provider: z.strictObject({ name: z.string().max(128), cause: z.enum(providerCauses) }).optional(),
  /** The id and revision number of the policy. */
  policyId: z.string().max(128),
  revision: z.string().max(64),
});
export type DecisionRecord = z.infer<typeof decisionRecordSchema>;

/** The answer of GET /activity: newest first. */
const activitySchema = z.strictObject({ items: z.array(decisionRecordSchema) });

/**
 * How many records one replica keeps: requests that a rule changed or a check stopped, and separately the requests that
 * passed.
 */
export const activityLimits = { decided: 500, passed: 500 } as const;

/** Timeout and maximum size of one answer of GET /activity. */
export const activityRequest = { timeoutMs: 5_000, maxBytes: 4_194_304 } as const;

/** A decision with the name of the gateway replica that made it. */
const replicaDecisionSchema = decisionRecordSchema.extend({ replica: z.string().max(253) });
export type ReplicaDecision = z.infer<typeof replicaDecisionSchema>;

/** A replica whose decisions are not included, and the reason as a sentence without its subject. */
export const missingReplicaSchema = z.strictObject({ replica: z.string().max(253), reason: z.string().max(256) });
export type MissingReplica = z.infer<typeof missingReplicaSchema>;

/** The decisions of all gateway replicas, newest first. Only decisions of the replicas in `missing` can be absent. */
export const collectedActivitySchema = z.strictObject({
  items: z.array(replicaDecisionSchema),
  missing: z.array(missingReplicaSchema),
});
export type CollectedActivity = z.infer<typeof collectedActivitySchema>;

/** The answer of one replica to GET /activity; the status is undefined if the replica did not answer. */
export function readReplicaActivity(
  replica: string,
  answer: { readonly status?: number; readonly value?: unknown },
): CollectedActivity {
  const read = readReplicaAnswer(activitySchema, answer);
  if (!read.ok) return { items: [], missing: [{ replica, reason: read.reason }] };
  return { items: read.value.items.map((record) => ({ ...record, replica })), missing: [] };
}

/** The answer of a replica to a request for its decisions, or the reason why it has none. */
export function readReplicaAnswer<S extends z.ZodType>(
  schema: S,
  { status, value }: { readonly status?: number; readonly value?: unknown },
): { readonly ok: true; readonly value: z.infer<S> } | { readonly ok: false; readonly reason: string } {
  const missing = (reason: string) => ({ ok: false, reason }) as const;
  if (status === undefined) return missing('does not answer');
  if (status === 404) return missing('serves no decisions: PORTCULLIS_ADMIN_TOKEN_FILE is not set there');
  if (status !== 200) return missing(`answered with status ${status}`);
  const read = schema.safeParse(value);
  return read.success ? { ok: true, value: read.data } : missing('sent decisions in a format of another release');
}

/** The decisions of several replicas, newest first. */
export function joinActivity(parts: readonly CollectedActivity[]): CollectedActivity {
  const items = parts.flatMap((part) => part.items);
  return {
    items: items.toSorted((a, b) => b.time.localeCompare(a.time)),
    missing: parts.flatMap((part) => part.missing),
  };
}
