import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { changeAuthorSchema, changeMessageSchema } from './change-note.ts';
import { policyTestSchema, refusalTextSchema } from './guardrail-policy.ts';
import { digestSchema, nameSchema, resourceSchema, timeSchema, uidSchema } from './metadata.ts';

/** The number of a revision; numbers start at 1 and have no gaps. */
const revisionNumberSchema = z.int().min(1).max(2_147_483_647);

/** An immutable revision of a policy, named `<policy id>-<number>`; the revision is kept when its policy is deleted. */
const policyRevisionSpecSchema = z.strictObject({
  policyId: z.string().min(1).max(128).describe('policyId is the id of the policy in the management API.'),
  number: revisionNumberSchema.describe('number is the number of the revision, from 1 and without gaps.'),
  policy: z
    .strictObject({
      name: nameSchema.describe('name is the name that the GuardrailPolicy had.'),
      uid: uidSchema.describe('uid is the UID that the GuardrailPolicy had.'),
      generation: z.int().min(1).describe('generation is the metadata.generation that was recorded.'),
    })
    .describe('policy identifies the object and generation that were recorded.'),
  token: z.string().max(128).describe('token is the change token of that generation; empty when there was none.'),
  author: changeAuthorSchema
    .optional()
    .describe(
      'author is the subject that made the change: the user whom the API server names, or as stated by the client that wrote it.',
    ),
  message: changeMessageSchema.optional().describe('message is the reason that was given for the change.'),
  displayName: codePoints(0, 128).describe('displayName is the display name at that time.'),
  description: codePoints(0, 4_096).describe('description is the description at that time.'),
  lifecycle: z.enum(['Draft', 'Archived']).describe('lifecycle is the lifecycle at that time.'),
  definition: z.string().max(1_048_576).describe('definition is the definition as canonical JSON (RFC 8785).'),
  definitionDigest: digestSchema.describe('definitionDigest is the SHA-256 of definition, 64 hexadecimal digits.'),
  ruleCount: z.int().min(0).max(65_536).describe('ruleCount is the number of rules of both sections.'),
  ruleKinds: z
    .array(z.string().min(1).max(64))
    .max(4)
    .describe('ruleKinds are the kinds of the rules, each once, sorted.'),
  refusalText: refusalTextSchema.optional().describe('refusalText is the message for a denied text at that time.'),
  tests: z.array(policyTestSchema).max(256).describe('tests are the tests of the policy at that time.'),
  purgeTime: timeSchema
    .optional()
    .describe('purgeTime is the time at which the text of the revision was removed; absent while the revision has it.'),
});
export const policyRevisionSchema = resourceSchema('PolicyRevision', policyRevisionSpecSchema, z.strictObject({}));

export type PolicyRevisionSpec = z.infer<typeof policyRevisionSpecSchema>;
export type PolicyRevision = z.infer<typeof policyRevisionSchema>;
