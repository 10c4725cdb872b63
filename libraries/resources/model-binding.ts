import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { judgeSchema, longConversationsSchema, unjudgedSchema } from '#contracts/judged-texts';
import { streamingModeSchema } from '#contracts/streaming-mode';
import { changeAuthorSchema, changeMessageSchema } from './change-note.ts';
import { refusalTextSchema } from './guardrail-policy.ts';
import {
  conditionsSchema,
  nameSchema,
  observedGenerationSchema,
  resourceSchema,
  timeSchema,
  tokenSchema,
} from './metadata.ts';
import { requestDivisionSchema } from './request-division.ts';

const guardrailSchema = z
  .discriminatedUnion('mode', [
    z.strictObject({
      mode: z.literal('Policy').describe('mode Policy guards the model, mode None declares it unguarded.'),
      policyRef: z
        .strictObject({
          name: nameSchema.describe('name is the name of the GuardrailPolicy in the same namespace.'),
          revision: z.int().min(1).max(2_147_483_647).describe('revision is the number of the revision to apply.'),
        })
        .describe('policyRef names one revision of a policy.'),
    }),
    z.strictObject({ mode: z.literal('None').describe('mode None declares the model unguarded.') }),
  ])
  .describe('guardrail names the policy revision that guards the model, or declares the model unguarded.');

const modelBindingSpecSchema = z.strictObject({
  model: z
    .strictObject({
      alias: z
        .string()
        .min(1)
        .max(128)
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9._:/-]*$/,
          'must begin with a letter or digit and have only letters, digits, ".", "_", ":", "/" and "-"',
        )
        .describe('alias is the model name that clients send.'),
      provider: z.string().min(1).max(128).describe('provider names an approved provider of kind model.'),
      upstreamModel: codePoints(1, 256).describe('upstreamModel is the model name that is sent to the provider.'),
      state: z.enum(['Enabled', 'Disabled']).describe('state Disabled refuses all requests for the alias.'),
    })
    .describe('model is the alias that clients call and the provider that serves it.'),
  gateway: z.string().min(1).max(63).describe('gateway names the gateway that serves the alias.'),
  guardrail: guardrailSchema,
  contentProfile: z
    .string()
    .min(1)
    .max(128)
    .describe('contentProfile is the set of features that bundles are built for.'),
  replicas: z.int().min(1).max(64).describe('replicas is the number of runtime processes.'),
  extraRequestKeys: z
    .array(codePoints(1, 128))
    .max(64)
    .optional()
    .describe('extraRequestKeys are additional request members that are forwarded to the provider.'),
  judge: judgeSchema
    .optional()
    .describe('judge lists further sorts of text that the policy judges; all means every sort.'),
  unjudged: unjudgedSchema
    .optional()
    .describe('unjudged Refuse refuses requests and answers with text that is not judged; Forward is the default.'),
  streaming: streamingModeSchema
    .optional()
    .describe(
      'streaming Strict refuses streams that a rule cannot judge, Allowed serves them, Refused serves none; Strict is the default.',
    ),
  longConversations: longConversationsSchema
    .optional()
    .describe('longConversations Split judges a conversation over the limits in groups; Refuse is the default.'),
  apply: tokenSchema.optional().describe('apply is any token: a new value applies the revision again.'),
});

/** Why an application failed. */
export const failureReasons = [
  'policy_archived',
  'policy_revision_unknown',
  'profile_unsupported',
  'bundle_invalid',
  'rule_too_costly',
  'policy_tests_failed',
  'provider_unknown',
  'provider_unavailable',
  'replica_rejected',
  'progress_deadline_exceeded',
  'superseded',
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** The longest cause of a failed application; a longer message is truncated. */
export const causeLimit = 2_048;

const applicationRecordSchema = z.strictObject({
  operationId: z.string().max(128).describe('operationId is the token of the application.'),
  author: changeAuthorSchema
    .optional()
    .describe(
      'author is the subject that requested the application: the user whom the API server names, or as stated by the client that wrote it.',
    ),
  message: changeMessageSchema.optional().describe('message is the reason that was given for the application.'),
  policyId: z.string().max(128).optional().describe('policyId is absent for an unbind.'),
  policyRevision: z.int().min(1).max(2_147_483_647).optional().describe('policyRevision is absent for an unbind.'),
  contentProfile: z.string().max(128).describe('contentProfile is the profile that was applied.'),
  generationId: z.string().max(64).optional().describe('generationId is absent when no route was written.'),
  outcome: z
    .enum(['Applied', 'Failed'])
    .describe(
      'outcome is Applied or Failed. A failure because of a missing dependency may be followed by a later entry for the same application.',
    ),
  reason: z.enum(failureReasons).optional().describe('reason is the reason of the failure.'),
  cause: z
    .string()
    .max(causeLimit)
    .optional()
    .describe('cause is the condition message about the failure: the rule, test or provider, and its problem.'),
  time: timeSchema.describe('time is when the outcome was decided.'),
});

/** The members of a guarded route that do not follow from the pinned application. */
const pinnedChecksSchema = z.strictObject({
  maxBodyBytes: z.int().min(1).max(1_048_576).describe('maxBodyBytes is the limit of the bundle.'),
  maxMessages: z.int().min(1).max(1_024).describe('maxMessages is the limit of the bundle.'),
  requestDeadlineMs: z.int().min(1).max(60_000).describe('requestDeadlineMs is the budget of the request section.'),
  responseDeadlineMs: z.int().min(1).max(60_000).describe('responseDeadlineMs is the budget of the response section.'),
  refusalText: refusalTextSchema
    .optional()
    .describe('refusalText is the message for a denied text; absent where it is the standard one.'),
  streamingRefusedBy: z
    .string()
    .max(1_024)
    .optional()
    .describe('streamingRefusedBy is the rule or limit that forbids streaming; absent where answers may be streamed.'),
  division: requestDivisionSchema
    .optional()
    .describe(
      'division indicates whether long texts of requests can be checked in pieces; where absent, they are refused.',
    ),
});

const modelBindingStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  pinned: z
    .strictObject({
      generationId: z.string().max(64).describe('generationId is the application that serves requests.'),
      policyId: z.string().max(128).optional().describe('policyId is absent for a model without a guardrail.'),
      policyRevision: z
        .int()
        .min(1)
        .max(2_147_483_647)
        .optional()
        .describe('policyRevision is the number of the revision that guards the model.'),
      digest: z.string().max(64).optional().describe('digest is the SHA-256 of the bundle.'),
      token: z.string().max(128).optional().describe('token is the token of the application.'),
      contentProfile: z.string().max(128).optional().describe('contentProfile is the profile of the application.'),
      workload: z.string().max(253).optional().describe('workload is the RuntimeWorkload that the route pins.'),
      checks: pinnedChecksSchema
        .optional()
        .describe('checks are limits of the bundle, with which a changed route is restored.'),
    })
    .optional()
    .describe('pinned mirrors the pinned application of the route; a route that differs from it is restored.'),
  workload: z
    .strictObject({
      name: z.string().max(253).describe('name is the name of the RuntimeWorkload.'),
      phase: z.enum(['Starting', 'Ready']).describe('phase is Ready when the requested number of processes is ready.'),
    })
    .optional()
    .describe(
      'workload is the workload that the application in progress starts; absent when no application is in progress.',
    ),
  applications: z
    .array(applicationRecordSchema)
    .max(5)
    .optional()
    .describe(
      'applications are outcomes, the newest first. Older ones are dropped, except the served one and the applied revision before it.',
    ),
});
export const modelBindingSchema = resourceSchema('ModelBinding', modelBindingSpecSchema, modelBindingStatusSchema);

export type Guardrail = z.infer<typeof guardrailSchema>;
export type ApplicationRecord = z.infer<typeof applicationRecordSchema>;
export type ModelBindingSpec = z.infer<typeof modelBindingSpecSchema>;
export type ModelBindingStatus = z.infer<typeof modelBindingStatusSchema>;
export type ModelBinding = z.infer<typeof modelBindingSchema>;
