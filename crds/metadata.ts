import { z } from 'zod';
import { apiVersion } from './kinds.ts';

/** RFC 1123 subdomain, as Kubernetes demands it of names. */
export const nameSchema = z
  .string()
  .min(1)
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must be a DNS name in lower case: letters, digits, "-" and ".", beginning and ending with a letter or digit',
  );

/** The part of ObjectMeta that we read and write; a server keeps members that we do not know. */
export const metadataSchema = z.looseObject({
  name: nameSchema,
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.int().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z
    .array(
      z.looseObject({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().optional(),
      }),
    )
    .optional(),
});

export type Metadata = z.infer<typeof metadataSchema>;

/** A resource as any server of the Kubernetes REST subset returns it. */
export type Resource<Spec = unknown, Status = unknown> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status?: Status;
};

/** A stored resource: what only a server sets is there. */
export type Stored<R extends Resource> = R & {
  readonly metadata: Metadata & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
  };
};

/** Condition of the Kubernetes API conventions. */
export const conditionSchema = z.strictObject({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0),
  lastTransitionTime: z.string(),
  reason: z
    .string()
    .min(1)
    .max(1_024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32_768),
});
export type Condition = z.infer<typeof conditionSchema>;

/** The schema of a whole resource of one kind, as a client may send it. */
export function resourceSchema<K extends string, Spec extends z.ZodType, Status extends z.ZodType>(
  kind: K,
  spec: Spec,
  status: Status,
) {
  return z.strictObject({
    apiVersion: z.literal(apiVersion),
    kind: z.literal(kind),
    metadata: metadataSchema,
    spec,
    status: status.optional(),
  });
}
