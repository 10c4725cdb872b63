import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import { limits } from '#contracts/limits';
import { agentLimits } from './agent.ts';
import { sdkLimits } from './agent-version.ts';
import { digestSchema, nameSchema, resourceSchema, uidSchema } from './metadata.ts';

/** The format of routes of agents that this version writes and reads. */
export const agentRouteFormat = 1;

/** The served version, the version on trial and the previous versions. */
const maxVersions = agentLimits.keep.max + 2;
const range = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);
const url = () => z.url({ protocol: /^https?$/ }).max(2_048);
const { run, manifest } = flowLimits;

const targetSchema = z.discriminatedUnion('mode', [
  z.strictObject({
    mode: z.literal('Policy').describe('mode Policy has every text checked, mode None declares it unguarded.'),
    policyId: z.string().min(1).max(128).describe('policyId is the id of the policy.'),
    policyRevision: z.string().min(1).max(64).describe('policyRevision is the number of its revision.'),
    digest: digestSchema.describe('digest is the SHA-256 of the bundle.'),
    contentProfile: z.string().min(1).max(128).describe('contentProfile is the profile of the bundle.'),
    streaming: z
      .enum(['Windows', 'Whole'])
      .describe('streaming Windows has streamed text judged in windows, Whole only when the text is complete.'),
    division: z
      .enum(['Pieces', 'Whole'])
      .optional()
      .describe('division Pieces has a long text of a call judged in pieces; otherwise it is refused.'),
    addresses: z.array(url()).min(1).max(64).describe('addresses are the origins of the runtime, without a path.'),
    maxBodyBytes: range(limits.maxBodyBytes).describe('maxBodyBytes is the limit of the bundle.'),
    maxMessages: range(limits.maxMessages).describe('maxMessages is the limit of the bundle.'),
    deadlineMs: z
      .strictObject({
        request: range(limits.deadlineMs).describe('request is the budget of the request section.'),
        response: range(limits.deadlineMs).describe('response is the budget of the response section.'),
      })
      .describe('deadlineMs holds the budgets of both sections in milliseconds.'),
  }),
  z.strictObject({ mode: z.literal('None').describe('mode None declares the texts unguarded.') }),
]);

const routedVersionSchema = z.strictObject({
  versionId: uidSchema.describe('versionId is the id of the version.'),
  version: nameSchema.describe('version is the name of the AgentVersion.'),
  modes: z
    .array(z.enum(['A2A', 'MCP']).describe('modes are protocols.'))
    .min(1)
    .max(2)
    .describe('modes are the protocols that the version serves.'),
  address: url().describe('address is the origin of the process of the version, without a path.'),
  cardDigest: digestSchema
    .optional()
    .describe('cardDigest is the SHA-256 of the verified card; absent without a card.'),
  requires: z
    .array(
      z.strictObject({
        kind: z
          .enum(['Model', 'Collection', 'Connection', 'Mcp', 'Agent', 'Memory', 'Policy'])
          .describe('kind is the kind of the required service.'),
        name: z.string().min(1).max(128).describe('name is its name.'),
      }),
    )
    .max(flowLimits.nodes)
    .describe('requires is everything that runs of the version may request tokens for.'),
  limits: z
    .strictObject({
      requestBytes: range(manifest.requestBytes).describe('requestBytes is the largest request.'),
      timeoutMs: range(run.timeoutMs).describe('timeoutMs is the longest run.'),
      concurrency: range(manifest.concurrency).describe('concurrency is the number of runs at the same time.'),
      budget: z
        .strictObject({
          nodes: range(run.nodes).describe('nodes is the number of nodes.'),
          modelTokens: range(run.modelTokens).describe('modelTokens is the number of tokens of models.'),
          outputBytes: range(run.outputBytes).describe('outputBytes is the size of all outputs.'),
        })
        .describe('budget is that of one run with everything that it calls.'),
    })
    .describe('limits are those of the version.'),
  guardrails: z
    .strictObject({
      input: targetSchema.describe('input defines how the gateway checks texts of callers.'),
      output: targetSchema.describe('output defines how the gateway checks texts of the agent.'),
    })
    .optional()
    .describe('guardrails are set for a version that does not check its texts: an image of an SDK.'),
  sdk: z
    .strictObject({
      publicUrl: url().describe('publicUrl is the address of the version in its published card.'),
      tool: z
        .string()
        .min(1)
        .max(sdkLimits.tool)
        .optional()
        .describe('tool is the name of the one MCP tool that the version offers.'),
    })
    .optional()
    .describe('sdk is set together with guardrails.'),
});

/**
 * All settings with which a gateway routes calls of one agent (docs/design/agent-routes.md). The operator replaces the
 * route as a whole; no other component writes it. A version that is not listed is not reachable.
 */
export const agentRouteSpecSchema = z.strictObject({
  formatVersion: z.int().min(1).max(65_536).describe('formatVersion is the format of this route.'),
  agentId: z.uuid().max(36).describe('agentId is the id of the agent.'),
  agent: z
    .strictObject({
      name: nameSchema.describe('name is the name of the Agent.'),
      uid: uidSchema.describe('uid is its UID.'),
    })
    .describe('agent is the owner of the route.'),
  served: uidSchema
    .optional()
    .describe('served is the versionId that calls without a version get; without it such calls are refused.'),
  canary: z
    .strictObject({
      versionId: uidSchema.describe('versionId is the id of the version on trial.'),
      percent: z.int().min(1).max(99).describe('percent is its share of the callers.'),
    })
    .optional()
    .describe('canary is the version that gets a share of the calls without a version.'),
  versions: z
    .array(routedVersionSchema)
    .max(maxVersions)
    .describe(
      'versions are all reachable versions: the served one, the one on trial, then previous ones, newest first.',
    ),
  cards: z.enum(['View', 'Public']).describe('cards indicates whether the cards need the right view.'),
  exposure: z
    .enum(['R1', 'R2'])
    .describe('exposure R1 admits listed confirmers over MCP, R2 every caller with the right invoke.'),
  refused: z
    .strictObject({
      generation: range({ min: 1, max: Number.MAX_SAFE_INTEGER }).describe('generation is that of the Agent.'),
      versionIds: z
        .array(uidSchema.describe('versionIds are ids.'))
        .max(2)
        .describe('versionIds are the versions that the rejected route began to use.'),
      reason: z.string().max(1_024).describe('reason is the reason of the replica.'),
    })
    .optional()
    .describe('refused is the last change that a replica rejected after it was written.'),
});
export const agentRouteSchema = resourceSchema('AgentRoute', agentRouteSpecSchema, z.strictObject({}));

export type AgentRoute = z.infer<typeof agentRouteSchema>;
export type AgentRouteSpec = AgentRoute['spec'];
export type RoutedVersion = z.infer<typeof routedVersionSchema>;
/** How the gateway judges texts in one direction. */
export type RouteGuardrail = z.infer<typeof targetSchema>;
