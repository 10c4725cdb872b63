import { z } from 'zod';
import { maxRevision, resourceIdSchema } from './management.ts';

const number = z.int().min(1).max(maxRevision);

/** POST /api/v1/policy-purges/{policyId}/{revision}. */
export const revisionPurgeSchema = z
  .strictObject({
    policyId: resourceIdSchema,
    revision: number,
    definitionDigest: z.string().regex(/^[0-9a-f]{64}$/),
    purgedAt: z.iso.datetime().describe('When the text was removed.'),
    changed: z.boolean().describe('Whether this request removed the text; false if it was removed before.'),
    sameDefinition: z
      .array(number)
      .describe('Other versions of the policy with the same definition. They still have its text.'),
  })
  .describe('A version whose text was removed.');
export type RevisionPurge = z.output<typeof revisionPurgeSchema>;
