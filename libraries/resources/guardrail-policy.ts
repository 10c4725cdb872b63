import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { managementLimits, policyNameForm } from '#contracts/management';
import { definitionSchema } from '#contracts/policy';
import { conditionsSchema, nameSchema, observedGenerationSchema, resourceSchema } from './metadata.ts';

const { policyName, policyDescription } = managementLimits;

/** A test that a policy carries with it: it gates the application of the policy. */
export const policyTestSchema = z.strictObject({
  name: codePoints(1, 128).describe('name names the test in conditions.'),
  stage: z.enum(['request', 'response']).describe('stage is the section that judges.'),
  messages: z
    .array(
      z.strictObject({
        role: codePoints(1, 32).describe('role is the role of the message.'),
        content: codePoints(0, 131_072).describe('content is the text to judge.'),
      }),
    )
    .min(1)
    .max(64)
    .describe('messages are judged together as one check.'),
  expect: z.enum(['Pass', 'Reject', 'Mask']).describe('expect is the decision that the test wants.'),
});

export const guardrailPolicySpecSchema = z.strictObject({
  // The same rules as in the management API, so that it can save every policy that it shows.
  displayName: codePoints(policyName.min, policyName.max)
    .regex(policyNameForm)
    .describe('displayName is the name that people see: letters, digits, dots, hyphens and underscores.'),
  description: codePoints(policyDescription.min, policyDescription.max).describe(
    'description says what the policy is for; it may be empty.',
  ),
  lifecycle: z
    .enum(['Draft', 'Archived'])
    .describe('lifecycle Archived forbids new applications; existing ones go on.'),
  definition: definitionSchema.describe('definition holds the rules of both stages and the providers they name.'),
  tests: z.array(policyTestSchema).max(256).optional().describe('tests gate the application of the policy.'),
  change: z.string().max(128).optional().describe('change is a free token that marks one act of editing.'),
});

export const guardrailPolicyStatusSchema = z.strictObject({
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
});

export const guardrailPolicySchema = resourceSchema(
  'GuardrailPolicy',
  guardrailPolicySpecSchema,
  guardrailPolicyStatusSchema,
);

export type PolicyTest = z.infer<typeof policyTestSchema>;
export type GuardrailPolicySpec = z.infer<typeof guardrailPolicySpecSchema>;
export type GuardrailPolicyStatus = z.infer<typeof guardrailPolicyStatusSchema>;
export type GuardrailPolicy = z.infer<typeof guardrailPolicySchema>;
