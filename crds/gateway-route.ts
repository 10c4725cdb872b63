import { z } from 'zod';
import { resourceSchema } from './metadata.ts';
import { failureReasons } from './model-binding.ts';

/** The format that this code writes and reads. */
export const routeFormatVersion = 1;

const guardedSchema = z.strictObject({
  mode: z.literal('Policy'),
  policyId: z.string().min(1),
  policyRevision: z.string().min(1),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  addresses: z.array(z.url()).min(1).max(64).describe('addresses of the runtime, origins without a path.'),
  headers: z
    .strictObject({
      'x-ap-gr-policy-id': z.string().min(1),
      'x-ap-gr-policy-revision': z.string().min(1),
      'x-ap-gr-bundle-digest': z.string().min(1),
      'x-ap-gr-content-profile': z.string().min(1),
    })
    .describe('headers of every call to the runtime; the response mode is added per call.'),
  maxBodyBytes: z.int().min(1),
  maxMessages: z.int().min(1),
  deadlineMs: z.strictObject({ request: z.int().min(1), response: z.int().min(1) }),
  streaming: z.discriminatedUnion('allowed', [
    z.strictObject({ allowed: z.literal(true) }),
    z.strictObject({ allowed: z.literal(false), rule: z.string().describe('rule or limit that forbids streaming.') }),
  ]),
});

/** What one gateway serves for one binding: whole and atomic, written by the operator only. */
export const gatewayRouteSpecSchema = z.strictObject({
  formatVersion: z.int().min(1),
  gateway: z.string().min(1),
  binding: z.strictObject({ name: z.string(), uid: z.string(), id: z.string() }),
  alias: z.string().min(1),
  generationId: z.uuid().describe('generationId of the application that is pinned.'),
  token: z.string().describe('token of the application that is pinned; empty when there was none.'),
  contentProfile: z.string().min(1),
  state: z.enum(['Enabled', 'Disabled']),
  guardrail: z.discriminatedUnion('mode', [guardedSchema, z.strictObject({ mode: z.literal('None') })]),
  workload: z.string().optional().describe('workload is the name of the RuntimeGeneration that is pinned.'),
  upstream: z.strictObject({
    provider: z.string(),
    endpoint: z.url(),
    model: z.string().min(1),
    credential: z.string().optional(),
  }),
  extraRequestKeys: z.array(z.string()),
  refused: z
    .strictObject({
      token: z.string(),
      contentDigest: z.string(),
      generationId: z.string(),
      reason: z.enum(failureReasons),
      message: z.string(),
    })
    .optional()
    .describe('refused is the last application that was refused after its route had been written.'),
});
export const gatewayRouteSchema = resourceSchema('GatewayRoute', gatewayRouteSpecSchema, z.strictObject({}));

export type GatewayRouteSpec = z.infer<typeof gatewayRouteSpecSchema>;
export type GatewayRoute = z.infer<typeof gatewayRouteSchema>;
export type GuardedRoute = Extract<GatewayRouteSpec['guardrail'], { mode: 'Policy' }>;
