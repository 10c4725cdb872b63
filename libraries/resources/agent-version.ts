import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { flowLimits } from '#contracts/flow-limits';
import { conditionsSchema, digestSchema, nameSchema, observedGenerationSchema, resourceSchema } from './metadata.ts';

/** The kinds of requirements: as a manifest has them, and as an AgentVersion does. */
export const requirementKinds = {
  model: 'Model',
  collection: 'Collection',
  connection: 'Connection',
  mcp: 'Mcp',
  agent: 'Agent',
  memory: 'Memory',
  policy: 'Policy',
} as const;

const { requestBytes, concurrency } = flowLimits.manifest;
const { timeoutMs } = flowLimits.run;

/**
 * The loader counts bytes and refuses a longer text; the limit of characters bounds the stored size in the API server.
 */
const source = () => codePoints(1, flowLimits.sourceBytes);
/** The names that a flow uses. */
const requiredName = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/-]*$/, 'must begin with a letter or digit and have only letters, digits and ._:/-');

const guardrail = (what: string) =>
  z
    .discriminatedUnion('mode', [
      z.strictObject({
        mode: z.literal('Policy').describe('mode Policy checks every text, mode None declares it unguarded.'),
        policyRef: z
          .strictObject({
            name: nameSchema.describe('name is the name of a served policy of the environment.'),
            revision: z.int().min(1).max(2_147_483_647).describe('revision is the number of its revision.'),
          })
          .describe('policyRef names one revision of a policy.'),
      }),
      z.strictObject({ mode: z.literal('None').describe('mode None declares the texts unguarded.') }),
    ])
    .describe(what);

/** Maximum number of characters of the card of an image, and of the name of its tool. */
export const sdkLimits = { card: 65_536, tool: 128 } as const;

const reachable = ['Model', 'Connection', 'Mcp', 'Agent'] as const;
/** The services that the gateway gives tokens for or serves itself: a process of an image reaches no other. */
const reachableKinds: ReadonlySet<string> = new Set(reachable);

/** An image with a process that the author wrote, and the one protocol that it serves. */
const sdkSchema = z
  .strictObject({
    image: z
      .string()
      .min(1)
      .max(512)
      .regex(/^[a-z0-9][A-Za-z0-9._:/-]*@sha256:[0-9a-f]{64}$/, 'must be an image by digest: name@sha256:DIGEST')
      .describe('image is the image of the process, named by its digest.'),
    a2a: z
      .strictObject({
        card: codePoints(1, sdkLimits.card).describe(
          'card is the text of the agent card, JSON of A2A 1.0; the process serves a card with the same content.',
        ),
      })
      .optional()
      .describe('a2a is set for an agent of A2A.'),
    mcp: z
      .strictObject({
        tool: z
          .string()
          .min(1)
          .max(sdkLimits.tool)
          .regex(/^[A-Za-z0-9_.-]+$/, 'must have only letters, digits and _.-')
          .describe('tool is the name of the one tool that the process lists.'),
      })
      .optional()
      .describe('mcp is set for a tool of MCP.'),
  })
  .refine(({ a2a, mcp }) => (a2a === undefined) !== (mcp === undefined), {
    error: 'exactly one of a2a and mcp is set',
  });

const agentVersionSpecSchema = z
  .strictObject({
    agent: z
      .string()
      .min(1)
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be a DNS label in lower case')
      .describe('agent is the name of the agent that this is a version of.'),
    lowCode: z
      .strictObject({
        flow: source().describe('flow is the text of the flow, platform.low-code.flow/v2.'),
        manifest: source().describe('manifest is the text of its publish manifest.'),
        tests: source().describe('tests is the text of its tests, which decide whether the version may run.'),
        subflows: z
          .array(codePoints(1, flowLimits.subflowBytes))
          .max(flowLimits.subflows)
          .optional()
          .describe('subflows are the texts of all flows that the flow runs as subflows.'),
      })
      .optional()
      .describe('lowCode is an agent that a flow describes.'),
    sdk: sdkSchema.optional().describe('sdk is an agent that an image runs.'),
    guardrails: z
      .strictObject({
        input: guardrail('input names the policy revision that checks texts of callers.'),
        output: guardrail('output names the policy revision that checks texts of the agent.'),
      })
      .describe('guardrails are those of the manifest; the gateway applies those of an image.'),
    requires: z
      .array(
        z.strictObject({
          kind: z.enum(Object.values(requirementKinds)).describe('kind is the kind of the required service.'),
          name: requiredName.describe('name is its name.'),
        }),
      )
      .max(flowLimits.nodes)
      .describe('requires is everything that the flow uses, as in the manifest, or that an image gets tokens for.'),
    limits: z
      .strictObject({
        requestBytes: z
          .int()
          .min(requestBytes.min)
          .max(requestBytes.max)
          .optional()
          .describe('requestBytes is the largest request.'),
        timeoutMs: z.int().min(timeoutMs.min).max(timeoutMs.max).optional().describe('timeoutMs is the longest run.'),
        concurrency: z
          .int()
          .min(concurrency.min)
          .max(concurrency.max)
          .optional()
          .describe('concurrency is the number of runs at the same time.'),
      })
      .optional()
      .describe('limits must not exceed those of the manifest, which apply where a limit is absent.'),
  })
  .refine(({ lowCode, sdk }) => (lowCode === undefined) !== (sdk === undefined), {
    error: 'exactly one of lowCode and sdk is set',
  })
  .refine(({ sdk, requires }) => sdk === undefined || requires.every(({ kind }) => reachableKinds.has(kind)), {
    path: ['requires'],
    error: 'an image reaches Model, Connection, Mcp and Agent only',
  });

const agentVersionStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  agentId: z.uuid().max(36).optional().describe('agentId is the id of the agent.'),
  versionId: z.string().max(64).optional().describe('versionId is the id of this version; it is never used again.'),
  digest: digestSchema.optional().describe('digest is the SHA-256 of the bundle that the process runs.'),
  workload: z.string().max(63).optional().describe('workload is the name of the processes of this version.'),
  cardDigest: digestSchema.optional().describe('cardDigest is the SHA-256 of the verified card.'),
  address: z
    .string()
    .max(2_048)
    .optional()
    .describe('address is where the process of this version takes calls, on one machine only.'),
});

export const agentVersionSchema = resourceSchema('AgentVersion', agentVersionSpecSchema, agentVersionStatusSchema);

export type AgentVersionSpec = z.infer<typeof agentVersionSpecSchema>;
export type AgentVersionStatus = z.infer<typeof agentVersionStatusSchema>;
export type AgentVersion = z.infer<typeof agentVersionSchema>;
