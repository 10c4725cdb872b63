import { z } from 'zod';
import { apiVersion } from './kinds.ts';

/** A DNS subdomain name (RFC 1123), as Kubernetes requires for names. */
export const nameSchema = z
  .string()
  .min(1)
  .max(253)
  .regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    'must be a DNS name in lower case: letters, digits, "-" and ".", beginning and ending with a letter or digit',
  );

/** The members of ObjectMeta that Portcullis uses; other members are kept. */
const metadataSchema = z.looseObject({
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

/** A resource as a server returns it. */
export type Resource<Spec = unknown, Status = unknown> = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Spec;
  readonly status?: Status;
};

/** A stored resource, with the metadata that a server sets. */
export type Stored<R extends Pick<Resource, 'metadata'>> = R & {
  readonly metadata: Metadata & {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
  };
};

/** A free token of a spec, which is compared and never shown. */
export const tokenSchema = z
  .string()
  .max(128)
  .regex(/^[^\p{Cc}]*$/u, 'must have no control characters');

/** The UID of an object. */
export const uidSchema = z.string().min(1).max(128);

/** SHA-256 in lower case. */
export const digestSchema = z
  .string()
  .length(64)
  .regex(/^[0-9a-f]{64}$/);

/** A point in time in the format of Kubernetes (RFC 3339). */
export const timeSchema = z.iso.datetime({ offset: true });

/** A condition as in the Kubernetes API conventions. */
export const conditionSchema = z.strictObject({
  type: z.string().min(1).max(316).describe('type names the aspect; it is unique in the list.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('status is True, False or Unknown.'),
  observedGeneration: z
    .int()
    .min(0)
    .describe('observedGeneration is the metadata.generation that the condition describes.'),
  lastTransitionTime: timeSchema.describe('lastTransitionTime is the time of the last change of status.'),
  reason: z
    .string()
    .min(1)
    .max(1_024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('reason is the reason in CamelCase, for programs.'),
  message: z.string().max(32_768).describe('message is a sentence for people.'),
});
/** The list of conditions of a status. */
export const conditionsSchema = z
  .array(conditionSchema)
  .max(8)
  .optional()
  .describe('conditions are the observed state; Ready is the summary.');
/** The generation that a status describes. */
export const observedGenerationSchema = z
  .int()
  .min(0)
  .optional()
  .describe('observedGeneration is the metadata.generation that this status describes.');

export type Condition = z.infer<typeof conditionSchema>;

/** The schema of a complete resource of one kind. */
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
