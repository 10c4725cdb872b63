import { z } from 'zod';
import { maxRevision, resourceIdSchema } from './management.ts';

const number = z.int().min(1).max(maxRevision);

/** A saved version of a policy with the author and the reason that its writer stated. */
const historyEntrySchema = z.strictObject({
  revision: number,
  savedAt: z.iso.datetime(),
  author: z
    .string()
    .nullable()
    .describe(
      'The subject of the command, the user of Kubernetes, or the field manager or name that another client stated; null if none is known.',
    ),
  message: z.string().nullable().describe('The reason that was given for the change; null without one.'),
  definitionDigest: z.string().describe('SHA-256 of the definition as canonical JSON (RFC 8785).'),
  isPurged: z.boolean().describe('Whether the text of the version was removed.'),
});
export type PolicyHistoryEntry = z.output<typeof historyEntrySchema>;

/** Response of GET /api/v1/policy-histories/{policyId}. */
export const policyHistorySchema = z
  .strictObject({
    policyId: resourceIdSchema,
    items: z.array(historyEntrySchema),
    nextBeforeRevision: number
      .nullable()
      .describe('The parameter beforeRevision of the next page; null on the last one.'),
  })
  .describe('Versions of a policy with their authors, the newest first.');
export type PolicyHistory = z.output<typeof policyHistorySchema>;
