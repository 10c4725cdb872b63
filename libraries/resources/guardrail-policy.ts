import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { managementLimits, policyNameForm } from '#contracts/management';
import { definitionSchema } from '#contracts/policy';
import { conditionsSchema, nameSchema, observedGenerationSchema, resourceSchema, tokenSchema } from './metadata.ts';

const { policyName, policyDescription } = managementLimits;

/** A test of a policy. A revision is applied only if its tests pass. */
export const policyTestSchema = z.strictObject({
  name: codePoints(1, 128).describe('name names the test in conditions.'),
  stage: z.enum(['request', 'response']).describe('stage is the section under test.'),
  messages: z
    .array(
      z.strictObject({
        role: codePoints(1, 32).describe('role is the role of the message.'),
        content: codePoints(0, 131_072).describe('content is the text to check.'),
      }),
    )
    .min(1)
    .max(64)
    .describe('messages are sent together as one check.'),
  expect: z.enum(['Pass', 'Reject', 'Mask']).describe('expect is the expected decision.'),
});

/** The message of clients whose text the policy denies; status, type and code of the answer do not change. */
export const refusalTextSchema = codePoints(1, 512);

export const guardrailPolicySpecSchema = z.strictObject({
  // The limits are the same as in the management API, so that this API can save every policy that it returns.
  displayName: codePoints(policyName.min, policyName.max)
    .regex(policyNameForm)
    .describe('displayName is the name that people see: letters, digits, dots, hyphens and underscores.'),
  description: codePoints(policyDescription.min, policyDescription.max).describe(
    'description is the purpose of the policy; it may be empty.',
  ),
  lifecycle: z
    .enum(['Draft', 'Archived'])
    .describe('lifecycle Archived forbids new applications; existing ones keep serving.'),
  definition: definitionSchema.describe('definition holds the rules of both stages and the providers they name.'),
  refusalText: refusalTextSchema
    .optional()
    .describe('refusalText is the message that clients get for a denied text instead of the standard one.'),
  tests: z.array(policyTestSchema).max(256).optional().describe('tests must pass before a revision is applied.'),
  change: tokenSchema.optional().describe('change is a free token; a new value records a new revision.'),
});

/** A list of the status does not grow with other objects. */
export const policyStatusLimits = { servedAs: 64 } as const;

const guardrailPolicyStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  latestRevision: z
    .strictObject({
      number: z.int().min(1).max(2_147_483_647).describe('number is the number of the revision.'),
      name: nameSchema.describe('name is the name of the PolicyRevision.'),
      definitionDigest: z.string().max(64).describe('definitionDigest is the SHA-256 of its definition.'),
    })
    .optional()
    .describe('latestRevision is the newest recorded revision.'),
  judgedSettings: z
    .string()
    .max(64)
    .optional()
    .describe('judgedSettings is the SHA-256 of the limits and approved providers that Valid and Warnings hold for.'),
  servedAs: z
    .array(z.string().min(1).max(40))
    .max(policyStatusLimits.servedAs)
    .optional()
    .describe('servedAs are the first 64 names under which the policy is served to services; absent without one.'),
});

export const guardrailPolicySchema = resourceSchema(
  'GuardrailPolicy',
  guardrailPolicySpecSchema,
  guardrailPolicyStatusSchema,
);

export type PolicyTest = z.infer<typeof policyTestSchema>;
export type GuardrailPolicySpec = z.infer<typeof guardrailPolicySpecSchema>;
export type GuardrailPolicy = z.infer<typeof guardrailPolicySchema>;
