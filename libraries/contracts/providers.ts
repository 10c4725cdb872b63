import { z } from 'zod';
import { detectorContract } from './policy.ts';

/** Body of the POST to a detector (`guardrail:versioning:schema-detector-v1`). */
export const detectorRequestSchema = z.strictObject({
  schema: z.literal(detectorContract),
  stage: z.enum(['request', 'response']),
  messages: z
    .array(z.strictObject({ role: z.string(), content: z.string() }))
    .min(1)
    .max(64),
});
/** Answer of a detector with HTTP 200: exactly a decision. */
export const detectorAnswerSchema = z.strictObject({ decision: z.enum(['allow', 'deny']) });
/** Content of a classifier's chat completion, by strict JSON schema. */
export const classifierAnswerSchema = z.strictObject({ decision: z.enum(['allow', 'deny', 'uncertain']) });

export type DetectorRequest = z.infer<typeof detectorRequestSchema>;

const credentialName = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must have 1 to 128 letters, digits, ".", "_" and "-" only');
const providerName = z.string().min(1).max(128);

/**
 * The approved providers of an environment: endpoints and credential references, never secrets.
 * `credential` names a file in the secrets folder of the process that calls; a policy must give the same name as
 * its credentialRef. `enabled: false` keeps routes and refuses new traffic to an upstream.
 */
export const providersFileSchema = z.strictObject({
  providers: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({
          name: providerName,
          kind: z.literal('detector'),
          endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
          credential: credentialName,
        }),
        z.strictObject({
          name: providerName,
          kind: z.literal('classifier'),
          endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
          model: z.string().min(1).max(256),
          credential: credentialName,
        }),
        z.strictObject({
          name: providerName,
          kind: z.literal('model'),
          endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
          credential: credentialName.optional(),
          enabled: z.boolean(),
        }),
      ]),
    )
    .max(256),
});
export type ProvidersFile = z.infer<typeof providersFileSchema>;
export type ApprovedProvider = ProvidersFile['providers'][number];
