import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { conditionsSchema, nameSchema, observedGenerationSchema, resourceSchema, uidSchema } from './metadata.ts';

/** Maximum number of entries of one access list, and maximum number of previous versions that keep running. */
export const agentLimits = { access: 128, keep: { min: 0, max: 8, default: 1 } } as const;

const line = (max: number) =>
  codePoints(1, max).regex(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u, 'must be one line without control characters');
const issuer = () => line(255).describe('issuer is the issuer of the tokens.');
const subject = () => line(255).describe('subject is the subject of the tokens.');
const percent = () => z.int().min(1).max(99);
const versionName = (what: string) => nameSchema.describe(`version is the name of ${what}.`);
const versionId = () => uidSchema.describe('versionId is its id.');

/** The holder of a right on an agent; the tuple of each is made by `accessSubject` (operator/access). */
const holderSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('User').describe('kind is the kind of subject.'),
    issuer: issuer(),
    subject: subject(),
  }),
  z.strictObject({
    kind: z.literal('Group').describe('kind Group means the members of a group.'),
    tenant: line(128).describe('tenant is the tenant of the group.'),
    group: line(128).describe('group is the name of the group in its tenant.'),
  }),
  z.strictObject({
    kind: z.literal('Agent').describe('kind Agent means another agent of this installation.'),
    agent: nameSchema.describe('agent is the name of the agent.'),
  }),
  z.strictObject({
    kind: z.literal('Service').describe('kind Service means an agent or service of another issuer.'),
    issuer: issuer(),
    subject: subject(),
  }),
  z.strictObject({
    kind: z.literal('AuthenticatedAll').describe('kind AuthenticatedAll means every caller over A2A, never over MCP.'),
  }),
]);

const holders = (what: string) => z.array(holderSchema).max(agentLimits.access).describe(what);

const agentSpecSchema = z
  .strictObject({
    version: versionName('the AgentVersion to serve'),
    canary: z
      .strictObject({
        version: versionName('the AgentVersion on trial'),
        percent: percent().describe('percent is the share of callers that it gets.'),
      })
      .optional()
      .describe('canary is a second version that serves a share of the callers.'),
    keep: z
      .int()
      .min(agentLimits.keep.min)
      .max(agentLimits.keep.max)
      .optional()
      .describe('keep is the number of previous versions that keep running; 1 when absent.'),
    owner: z
      .strictObject({ issuer: issuer(), subject: subject() })
      .describe('owner is the user who owns the agent and reads its traces.'),
    workspace: line(128).describe('workspace is the workspace that the catalogue lists the agent in.'),
    access: z
      .strictObject({
        view: holders('view lists who finds the agent.'),
        invoke: holders('invoke lists who calls the agent.'),
      })
      .describe('access lists the subjects that find and call the agent; neither follows from the other.'),
    cards: z
      .enum(['View', 'Public'])
      .optional()
      .describe(
        'cards Public serves the cards to everyone; View, which holds when it is absent, needs the right view.',
      ),
  })
  .refine(({ version, canary }) => canary?.version !== version, {
    path: ['canary'],
    error: 'canary is another version than the served one',
  });

const servedVersion = (what: string) => z.strictObject({ version: versionName(what), versionId: versionId() });

const agentStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  agentId: z.uuid().max(36).optional().describe('agentId is the id of the agent.'),
  url: z.string().max(2_048).optional().describe('url is the address of the agent for clients.'),
  served: servedVersion('the version that is served').optional().describe('served is the version that is served.'),
  checked: z
    .array(
      z
        .enum(['Input', 'Output'])
        .describe('checked lists Input for texts of callers, and Output for texts of the agent.'),
    )
    .max(2)
    .optional()
    .describe('checked are the texts that a policy checks in the served version.'),
  canary: servedVersion('the version on trial')
    .extend({ percent: percent().describe('percent is its share of the callers.') })
    .optional()
    .describe('canary is the version on trial.'),
  previous: z
    .array(servedVersion('a previous version'))
    .max(agentLimits.keep.max)
    .optional()
    .describe('previous are the previous versions that keep running, newest first.'),
});

export const agentSchema = resourceSchema('Agent', agentSpecSchema, agentStatusSchema);

export type AgentStatus = z.infer<typeof agentStatusSchema>;
export type Agent = z.infer<typeof agentSchema>;
export type AccessHolder = z.infer<typeof holderSchema>;
