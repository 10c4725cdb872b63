import { z } from 'zod';
import { nameSchema } from '#resources/metadata';

/** The name is part of a Service name, a DNS label of at most 63 characters. */
const servedName = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be a DNS label in lower case');

/**
 * Policies for services that call checks directly, without a gateway (`served-policies.yaml`). Each entry keeps a
 * workload with a Service and a stable address.
 */
export const servedPoliciesSchema = z.strictObject({
  policies: z
    .array(
      z.strictObject({
        name: servedName,
        policyRef: z.strictObject({ name: nameSchema, revision: z.int().min(1) }),
        contentProfile: z.string().min(1).max(128),
        replicas: z.int().min(1).max(64).default(1),
        apply: z
          .string()
          .max(128)
          .optional()
          .describe('apply is a token of your choice; a new value applies the revision again.'),
      }),
    )
    .max(256),
});

export type ServedPolicy = z.infer<typeof servedPoliciesSchema>['policies'][number];
