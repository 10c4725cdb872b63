import { z } from 'zod';
import { maxRevision, resourceIdSchema } from './management.ts';

const number = z.int().min(1).max(maxRevision);

/**
 * Maximum number of bytes of both versions together that the service compares: during a comparison the process answers
 * no other request.
 */
export const maxDiffBytes = 524_288;

/** GET /api/v1/policy-diffs/{policyId}. */
export const revisionDiffSchema = z
  .strictObject({
    policyId: resourceIdSchema,
    from: number.describe('The number of the earlier side of the difference.'),
    to: number.describe('The number of the later side of the difference.'),
    isSame: z.boolean(),
    diff: z.string().describe('The difference of both versions as YAML, in the unified format; empty without one.'),
  })
  .describe('The difference of two versions of a policy.');
export type RevisionDiff = z.output<typeof revisionDiffSchema>;
