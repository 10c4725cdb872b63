import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { judgedKindsSchema, longConversationsSchema, unjudgedSchema } from '#contracts/judged-texts';
import { streamingModeSchema } from '#contracts/streaming-mode';
import { refusalTextSchema } from './guardrail-policy.ts';
import { digestSchema, resourceSchema } from './metadata.ts';
import { failureReasons } from './model-binding.ts';
import { requestDivisionSchema } from './request-division.ts';

/** The route format that this version writes and reads. */
export const routeFormatVersion = 1;

const url = z.url().max(2_048);
const header = z.string().min(1).max(128);

const guardedSchema = z.strictObject({
  mode: z.literal('Policy').describe('mode Policy guards the alias, mode None does not.'),
  policyId: z.string().min(1).max(128).describe('policyId is the id of the policy.'),
  policyRevision: z.string().min(1).max(64).describe('policyRevision is the number of its revision.'),
  digest: digestSchema.describe('digest is the SHA-256 of the bundle.'),
  addresses: z.array(url).min(1).max(64).describe('addresses are the origins of the runtime, without a path.'),
  headers: z
    .strictObject({
      'x-ap-gr-policy-id': header.describe('x-ap-gr-policy-id is the value of that header.'),
      'x-ap-gr-policy-revision': header.describe('x-ap-gr-policy-revision is the value of that header.'),
      'x-ap-gr-bundle-digest': header.describe('x-ap-gr-bundle-digest is the value of that header.'),
      'x-ap-gr-content-profile': header.describe('x-ap-gr-content-profile is the value of that header.'),
    })
    .describe('headers are sent with every call to the runtime; the response mode is added per call.'),
  maxBodyBytes: z.int().min(1).max(1_048_576).describe('maxBodyBytes is the limit of the bundle.'),
  maxMessages: z.int().min(1).max(1_024).describe('maxMessages is the limit of the bundle.'),
  deadlineMs: z
    .strictObject({
      request: z.int().min(1).max(60_000).describe('request is the budget of the request section.'),
      response: z.int().min(1).max(60_000).describe('response is the budget of the response section.'),
    })
    .describe('deadlineMs holds the budgets of both sections in milliseconds.'),
  refusalText: refusalTextSchema
    .optional()
    .describe('refusalText is the message that clients get for a denied text; the standard one when absent.'),
  streaming: z
    .discriminatedUnion('allowed', [
      z.strictObject({ allowed: z.literal(true).describe('allowed indicates whether responses may be streamed.') }),
      z.strictObject({
        allowed: z.literal(false).describe('allowed indicates whether responses may be streamed.'),
        rule: z.string().max(1_024).describe('rule is the rule or limit that forbids streaming.'),
      }),
    ])
    .describe('streaming indicates whether responses can be checked in windows.'),
  division: requestDivisionSchema
    .optional()
    .describe(
      'division indicates whether long texts of requests can be checked in pieces; where absent, they are refused.',
    ),
});

const unguardedSchema = z.strictObject({
  mode: z.literal('None').describe('mode Policy guards the alias, mode None does not.'),
});

const refusedSchema = z.strictObject({
  token: z.string().max(128).describe('token is the token of that application.'),
  contentDigest: z.string().max(128).describe('contentDigest is the SHA-256 of the content of that application.'),
  generationId: z.string().max(64).describe('generationId is the generationId of that application.'),
  reason: z.enum(failureReasons).describe('reason is the reason of the failure, for programs.'),
  message: z.string().max(32_768).describe('message is the reason of the failure, for people.'),
});

/**
 * The complete route of one binding at one gateway. The operator replaces it as a whole; no other component writes it.
 */
export const gatewayRouteSpecSchema = z.strictObject({
  formatVersion: z.int().min(1).max(65_536).describe('formatVersion is the format of this route.'),
  gateway: z.string().min(1).max(63).describe('gateway is the gateway that serves the alias.'),
  binding: z
    .strictObject({
      name: z.string().max(253).describe('name is the name of the ModelBinding.'),
      uid: z.string().max(128).describe('uid is its UID.'),
      id: z.string().max(64).describe('id is its id in the management API.'),
    })
    .describe('binding is the owner of the route.'),
  alias: z.string().min(1).max(128).describe('alias is the model name that clients send.'),
  generationId: z.uuid().max(36).describe('generationId is the application that serves requests.'),
  token: z
    .string()
    .max(128)
    .describe('token is the token of the application that serves requests; empty when there is none.'),
  contentProfile: z.string().min(1).max(128).describe('contentProfile is the profile of the application.'),
  state: z.enum(['Enabled', 'Disabled']).describe('state Disabled refuses all requests for the alias.'),
  guardrail: z
    .discriminatedUnion('mode', [guardedSchema, unguardedSchema])
    .describe('guardrail defines how requests and responses are checked.'),
  workload: z.string().max(253).optional().describe('workload is the name of the RuntimeWorkload that checks them.'),
  upstream: z
    .strictObject({
      provider: z.string().max(128).describe('provider is the name of the approved provider.'),
      endpoint: url.describe('endpoint is the address of the provider.'),
      model: codePoints(1, 256).describe('model is the model name that is sent to the provider.'),
      credential: z.string().max(128).optional().describe('credential is the name of a file, never a secret.'),
    })
    .describe('upstream is the provider of the model.'),
  extraRequestKeys: z
    .array(codePoints(0, 128))
    .max(64)
    .describe('extraRequestKeys are additional request members that are forwarded to the provider.'),
  judge: judgedKindsSchema
    .optional()
    .describe('judge lists the sorts of text that are judged in addition to the texts of the contract.'),
  unjudged: unjudgedSchema
    .optional()
    .describe('unjudged Refuse refuses requests and answers with text that is not judged.'),
  streaming: streamingModeSchema
    .optional()
    .describe(
      'streaming Allowed serves streams that a rule cannot judge, Refused serves none; absent, such streams are refused.',
    ),
  longConversations: longConversationsSchema
    .optional()
    .describe('longConversations Split judges a conversation over the limits in groups of messages.'),
  refused: refusedSchema
    .optional()
    .describe('refused is the last application that a replica rejected after its route was written.'),
});
export const gatewayRouteSchema = resourceSchema('GatewayRoute', gatewayRouteSpecSchema, z.strictObject({}));

export type GatewayRouteSpec = z.infer<typeof gatewayRouteSpecSchema>;
export type GatewayRoute = z.infer<typeof gatewayRouteSchema>;
export type GuardedRoute = Extract<GatewayRouteSpec['guardrail'], { mode: 'Policy' }>;
