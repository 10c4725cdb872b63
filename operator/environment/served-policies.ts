import { z } from 'zod';
import { nameSchema } from '#resources/metadata';

/** The name becomes part of that of a Service, which is a DNS label of at most 63 characters. */
const servedName = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be a DNS label in lower case');

/**
 * Policies that are served without a gateway, to services that check text themselves (`served-policies.yaml`): each
 * entry keeps a workload behind a Service whose address stays.
 */
export const servedPoliciesSchema = z.strictObject({
  policies: z
    .array(
      z.strictObject({
        name: servedName,
        policyRef: z.strictObject({ name: nameSchema, revision: z.int().min(1) }),
        contentProfile: z.string().min(1).max(128),
        replicas: z.int().min(1).max(64).default(1),
        apply: z.string().max(128).optional().describe('apply is a free token: a new value runs the revision anew.'),
      }),
    )
    .max(256),
});

export type ServedPolicy = z.infer<typeof servedPoliciesSchema>['policies'][number];
