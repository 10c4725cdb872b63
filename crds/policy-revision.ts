import { z } from 'zod';
import { policyTestSchema } from './guardrail-policy.ts';
import { resourceSchema } from './metadata.ts';

/** An immutable revision of a policy, named `<policy id>-<number>`; it outlives its policy. */
export const policyRevisionSpecSchema = z.strictObject({
  policyId: z.string().min(1).max(128),
  number: z.int().min(1),
  policy: z
    .strictObject({ name: z.string(), uid: z.string(), generation: z.int().min(1) })
    .describe('policy is the object and generation that this revision records.'),
  token: z.string().max(128).describe('token is the change token of that generation; empty when there was none.'),
  displayName: z.string().max(128),
  description: z.string().max(4_096),
  lifecycle: z.enum(['Draft', 'Archived']),
  definition: z.string().max(1_048_576).describe('definition is canonical JSON.'),
  definitionDigest: z.string().regex(/^[0-9a-f]{64}$/),
  ruleCount: z.int().min(0),
  ruleKinds: z.array(z.string()).max(4),
  tests: z.array(policyTestSchema).max(256),
});
export const policyRevisionSchema = resourceSchema('PolicyRevision', policyRevisionSpecSchema, z.strictObject({}));

export type PolicyRevisionSpec = z.infer<typeof policyRevisionSpecSchema>;
export type PolicyRevision = z.infer<typeof policyRevisionSchema>;
