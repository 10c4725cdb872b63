import { z } from 'zod';
import { limits } from './limits.ts';

const integer = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);

/** Whether texts can be judged in overlapping pieces, or the rule or limit of the section that forbids it. */
const divisionSchema = z.discriminatedUnion('allowed', [
  z.strictObject({ allowed: z.literal(true) }),
  z.strictObject({ allowed: z.literal(false), rule: z.string().min(1).max(1_024) }),
]);

/** The limits of a served policy that its bundle and its sections fix. */
export const servedLimitsSchema = z.strictObject({
  /** Largest size of one serialised check, in bytes. */
  maxBodyBytes: integer(limits.maxBodyBytes),
  maxMessages: integer(limits.maxMessages),
  /** Time limits of the checks of both sections, milliseconds. */
  deadlineMs: z.strictObject({ request: integer(limits.deadlineMs), response: integer(limits.deadlineMs) }),
  /** Whether long texts can be judged in pieces by the request section. */
  division: divisionSchema,
  /** Whether streamed text can be judged in windows by the response section; absent in files of older operators. */
  streaming: divisionSchema.optional(),
});
export type ServedLimits = z.infer<typeof servedLimitsSchema>;

/**
 * The settings with which a service checks texts by a served policy, as one JSON file that is replaced as a whole
 * (`target.json` of the ConfigMap, `served/NAME.json` of a data directory).
 */
export const servedTargetSchema = servedLimitsSchema.extend({
  /** Origins of the processes of the workload that has these values. */
  addresses: z
    .array(z.url({ protocol: /^https?$/ }).max(2_048))
    .min(1)
    .max(64),
  policyId: z.string().min(1).max(128),
  policyRevision: z.string().min(1).max(64),
  bundleDigest: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
  contentProfile: z.string().min(1).max(128),
});
export type ServedTarget = z.infer<typeof servedTargetSchema>;

/** Text before a piece that is judged again with it, in UTF-16 units, which are at least as many bytes. */
export const documentOverlap = 1_024;
