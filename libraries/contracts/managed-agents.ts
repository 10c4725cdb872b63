import { z } from 'zod';

const managedAgentStates = ['ready', 'starting', 'faulty', 'waiting', 'deleting'] as const;
const versionRoles = ['served', 'canary', 'previous', 'wanted'] as const;

const state = z.enum(managedAgentStates);
const whatToDo = z.string().nullable();
const steps = z.array(
  z.object({
    part: z.string(),
    state: z.enum(['well', 'open', 'fault', 'aside']),
    reason: z.string().nullable(),
    message: z.string(),
  }),
);

const managedVersionSchema = z.object({
  name: z.string().describe('The name of the AgentVersion.'),
  versionId: z.string().nullable().describe('null for a version that does not exist.'),
  roles: z
    .array(z.enum(versionRoles))
    .describe(
      'How the Agent uses the version: wanted is the version in its spec; empty if the Agent does not name the version.',
    ),
  percent: z.number().nullable().describe('The percentage of the callers that get a version on trial.'),
  state: state.nullable(),
  hasFlow: z.boolean().describe('Whether it runs a flow, which can be read; the version of an image has none.'),
  isUnguarded: z.boolean().describe('Texts of callers, or those of the agent, are not checked by a policy.'),
  summary: z.string().describe('The first cause in one sentence, or that the version is ready.'),
  whatToDo,
});

/** GET /api/v1/agents: every agent, ordered by name, also those that no catalogue lists. */
export const managedAgentListSchema = z.object({
  items: z.array(
    z.object({ name: z.string(), agentId: z.string(), state, served: z.string().nullable(), summary: z.string() }),
  ),
});

/** GET /api/v1/agent-versions/without-agent: every version that names an Agent that does not exist, ordered by name. */
export const versionsWithoutAgentSchema = z.object({
  items: z.array(
    z.object({
      name: z.string().describe('The name of the AgentVersion.'),
      agent: z.string().describe('The name of the Agent that does not exist.'),
      createdAt: z.string(),
    }),
  ),
});

/**
 * The answer of GET /api/v1/agents/{agentId}: an agent with its versions, and the reason why it is, or is not, served
 * as declared.
 */
export const managedAgentSchema = z.object({
  name: z.string().describe('The name of the Agent.'),
  agentId: z.string(),
  state,
  summary: z.string().describe('The first cause in one sentence, or that the agent is served.'),
  whatToDo,
  steps,
  versions: z
    .array(managedVersionSchema)
    .describe(
      'Those that are declared, served or still running, the served one first; then the others of the agent, the newest first.',
    ),
});

/**
 * The answer of GET /api/v1/agents/{agentId}/versions/{versionId}/flow: the sources of a flow and of its subflows, as
 * they were applied.
 */
export const managedFlowSchema = z.object({
  name: z.string(),
  flow: z.string(),
  subflows: z.array(z.string()).optional(),
});

export type VersionsWithoutAgent = z.infer<typeof versionsWithoutAgentSchema>;
export type ManagedAgentList = z.infer<typeof managedAgentListSchema>;
export type ManagedAgent = z.infer<typeof managedAgentSchema>;
export type ManagedVersion = ManagedAgent['versions'][number];
