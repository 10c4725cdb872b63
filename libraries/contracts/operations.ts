import { z } from 'zod';
import { auditAuthorSchema } from './audit.ts';
import { operationSchema } from './management.ts';

/** Number of entries on one page of operations. */
export const operationPageSize = { min: 1, max: 100, default: 50 } as const;

/** An operation with the person who sent the command, and the content of the command. */
const listedOperationSchema = z
  .strictObject({
    ...operationSchema.shape,
    author: auditAuthorSchema.describe('Who sent the command; unknown for a command of an earlier version.'),
    message: z
      .string()
      .nullable()
      .describe(
        'The reason that the author gave; null without one, for a command of an earlier version, and after the text of the version that the command saved was removed.',
      ),
    targetName: z
      .string()
      .nullable()
      .describe('The name of the policy or the alias of the model; null when it no longer exists.'),
    wanted: z
      .strictObject({
        policyId: z.string(),
        policyName: z.string().nullable(),
        revision: z.int().min(1).nullable(),
      })
      .nullable()
      .describe('The policy and the revision that the command asks for; null for an unbind, or when it is not known.'),
    overridesFreeze: z.boolean().describe('Whether the command took effect although a freeze window was in force.'),
  })
  .describe('A command of the management API with its author.');
export type ListedOperation = z.output<typeof listedOperationSchema>;

/** Response of GET /api/v1/operations. */
export const operationPageSchema = z.strictObject({
  items: z.array(listedOperationSchema),
  nextCursor: z.string().nullable().describe('The cursor of the next page; null on the last one.'),
});
