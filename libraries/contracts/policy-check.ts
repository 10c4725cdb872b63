import { z } from 'zod';
import { codePoints } from './code-points.ts';
import { definitionSchema } from './policy.ts';

/** Limits of the texts in one request that checks a definition; each text is one request or one answer. */
export const policyCheckLimits = { checks: { min: 0, max: 256 }, messages: { min: 1, max: 64 } } as const;

const messageSchema = z.strictObject({ role: codePoints(1, 32), content: codePoints(0, 131_072) });

/** The body of POST /api/v1/policy-checks. The service stores no part of it. */
export const policyCheckSchema = z.strictObject({
  definition: definitionSchema,
  checks: z
    .array(
      z.strictObject({
        name: codePoints(1, 128),
        stage: z.enum(['request', 'response']),
        messages: z.array(messageSchema).min(policyCheckLimits.messages.min).max(policyCheckLimits.messages.max),
      }),
    )
    .max(policyCheckLimits.checks.max),
  /** Whether the matches of every local rule are listed, including rules that deny. */
  marks: z.boolean().default(false),
});

/** The answer: whether the definition can be applied, and the decision of its local rules about each text. */
export const policyCheckResultSchema = z.object({
  problems: z.array(z.string()),
  warnings: z.array(z.string()),
  /** Whether streamed answers can be checked in windows, and the first rule that needs the whole answer. */
  streams: z.object({ allowed: z.boolean(), rule: z.string().nullable() }),
  results: z.array(
    z.object({
      name: z.string(),
      decision: z.enum(['Pass', 'Reject', 'Mask', 'Failed']),
      code: z.string().nullable(),
      rules: z.array(z.string()),
      contents: z.array(z.string()).nullable(),
      skipped: z.array(z.string()),
      marks: z.array(z.object({ rule: z.string(), message: z.int(), start: z.int(), end: z.int() })),
    }),
  ),
});

export type PolicyCheck = z.infer<typeof policyCheckSchema>;
export type PolicyCheckResult = z.infer<typeof policyCheckResultSchema>;
