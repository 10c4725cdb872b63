import { z } from 'zod';

const shownStates = ['applied', 'pending', 'failed', 'disabled', 'unguarded', 'deleting'] as const;
const replicaStates = ['loaded', 'pending', 'stale', 'rejected', 'not_ready'] as const;

/** The current route of one model in one gateway replica. */
const overviewReplicaSchema = z.object({
  name: z.string(),
  state: z
    .enum(replicaStates)
    .describe('loaded: it confirmed the current route; stale: it has not seen it yet; not_ready: nothing waits for it'),
});

const overviewModelSchema = z.object({
  name: z.string().describe('The name of the ModelBinding.'),
  modelId: z
    .string()
    .nullable()
    .describe('The id for the binding operations; null until the operator gave one, and where another object owns it.'),
  alias: z.string(),
  gateway: z.string(),
  state: z.enum(shownStates),
  wanted: z.object({ policy: z.string(), revision: z.number() }).nullable().describe('null for an unguarded model.'),
  policyId: z.string().nullable().describe('The id of the wanted policy, if the policy exists.'),
  serves: z.string().describe('What serves requests now, in words.'),
  servesRevision: z.string().nullable(),
  previous: z
    .object({ policyId: z.string(), policy: z.string(), revision: z.number() })
    .nullable()
    .describe(
      'The newest of the kept applications that had another revision; null if none is kept or its policy is gone.',
    ),
  replicas: z.array(overviewReplicaSchema),
  summary: z.string().describe('The first cause in one sentence, or that the binding is applied.'),
  isWell: z.boolean().describe('Whether nothing needs attention.'),
  whatToDo: z.string().nullable(),
  runbook: z.string().nullable().describe('The page of docs/runbooks for the first cause, without its ending.'),
  appliedBy: z.string().nullable().describe('Author and message of the application that serves requests.'),
});

/** GET /api/v1/overview: every model with the state that its replicas enforce at this moment. */
export const overviewSchema = z.object({
  /** A digest of the other members. A request with this value in the parameter `after` waits for a change. */
  mark: z.string(),
  models: z.array(overviewModelSchema),
  deletingPolicies: z
    .array(z.string())
    .describe(
      'Ids of the policies that are being deleted: they stay while a model refers to them, and cannot be applied.',
    ),
});

export type Overview = z.infer<typeof overviewSchema>;
export type OverviewModel = z.infer<typeof overviewModelSchema>;
