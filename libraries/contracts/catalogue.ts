import { z } from 'zod';
import { type CatalogueErrorCode, catalogueErrors } from './catalogue-errors.ts';

/** Limits of the agent catalogue; all are the service's own. */
export const catalogueLimits = {
  /** Body of a request, bytes. */
  bodyBytes: 65_536,
  pageSize: { min: 1, max: 100, default: 20 },
  /** Longest value of a filter, UTF-16 units. */
  name: 255,
  cursorLength: 128,
  /** Longest text of a query, UTF-16 units. */
  query: 2_000,
  topK: { min: 1, max: 50, default: 10 },
  /** How long a cursor is valid, seconds. */
  cursorSeconds: 3_600,
  /**
   * Longest texts of a record in code points, and maximum number of entries of its lists; longer values of a manifest
   * are truncated.
   */
  title: 200,
  description: 2_048,
  skills: 64,
  tags: 16,
  examples: 8,
} as const;

export const agentStates = ['active', 'degraded', 'removed', 'rejected'] as const;
export const agentProtocols = ['a2a', 'mcp'] as const;
export const implementationTypes = ['sdk', 'low-code'] as const;
/** hybrid ranks by words and by vectors, terms by words only. */
export const searchProfiles = ['hybrid', 'terms'] as const;
/** Owners of agents are users. */
export const ownerTypes = ['user'] as const;

export type AgentLifecycle = (typeof agentStates)[number];
export type AgentProtocol = (typeof agentProtocols)[number];
export type SearchProfile = (typeof searchProfiles)[number];
export type ImplementationType = (typeof implementationTypes)[number];

const text = z.string();
/** A verified skill of a card, or the tool of an agent over MCP. */
const skillSchema = z.strictObject({
  id: text,
  name: text,
  description: text,
  tags: z.array(text),
  examples: z.array(text).optional(),
});
export type AgentSkill = z.infer<typeof skillSchema>;

/** The address at which an agent is called; only the gateway of the platform accepts calls. */
const invocationInterfaceSchema = z.strictObject({
  url: z.url(),
  protocolBinding: z.enum(['A2A HTTP+JSON', 'MCP Streamable HTTP']),
  exposure: z.literal('public_gateway'),
  authorization: z.literal('platform_oidc_rebac'),
});

/** One agent as a caller sees it (`catalogue:record:*`). */
export const agentRecordSchema = z.strictObject({
  agentId: z.uuid().describe('Opaque id of the agent.'),
  versionId: text.nullable().describe('Id of the selected version; null if none was ever served.'),
  name: text,
  description: text,
  owner: z.strictObject({ ownerType: z.enum(ownerTypes), ownerIssuer: text, ownerSubject: text }),
  workspace: text,
  state: z.enum(agentStates),
  protocol: z.enum(agentProtocols),
  implementationType: z.enum(implementationTypes),
  skills: z.array(skillSchema).describe('Verified skills, or the tool of an agent over MCP.'),
  invocationInterface: invocationInterfaceSchema
    .optional()
    .describe('Present if the version is ready, its rights and its route are in force, and the caller may invoke it.'),
});
export type AgentRecord = z.infer<typeof agentRecordSchema>;

export const agentPageSchema = z.strictObject({
  items: z.array(agentRecordSchema),
  nextCursor: text.nullable().describe('The cursor of the next page; null on the last one.'),
});

const { query, topK, name } = catalogueLimits;
/** PostgreSQL stores no U+0000. */
const storable = (max: number) =>
  text
    .min(1)
    .max(max)
    .regex(/^[^\u0000]*$/, { error: 'must not contain U+0000' });

/**
 * The caller is taken from the token: a member that names a user, a role or a decision counts as unknown and is
 * refused.
 */
export const searchAgentsSchema = z.strictObject({
  query: storable(query).describe('What the agent should do, in words. It is not stored.'),
  workspaceId: storable(name).describe('The workspace that is searched.'),
  profile: z
    .enum(searchProfiles)
    .optional()
    .describe('hybrid, which is used when it is absent, ranks by words and by vectors; terms ranks by words only.'),
  protocols: z.array(z.enum(agentProtocols)).max(8).optional().describe('Only agents of one of these protocols.'),
  implementationTypes: z.array(z.enum(implementationTypes)).max(8).optional().describe('Only agents of these types.'),
  topK: z.int().min(topK.min).max(topK.max).optional().describe(`Most matches; ${topK.default} when it is absent.`),
  minScore: z.number().min(0).max(1).optional().describe('Only matches with this score or a higher one.'),
});

export const foundAgentsSchema = z.strictObject({
  matches: z.array(
    agentRecordSchema.extend({
      score: z
        .number()
        .min(0)
        .max(1)
        .describe(
          'The share of the highest possible score: 1 for an agent that every ranking has first. It is above 0, because an agent that neither a word nor its vector relates to the query is no match.',
        ),
    }),
  ),
});

export const catalogueHealthSchema = z.strictObject({ status: z.literal('ok') });

export const catalogueErrorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(catalogueErrors) as [CatalogueErrorCode]),
      message: text,
      traceId: z.string().regex(/^[0-9a-f]{32}$/),
      details: z.array(z.strictObject({ path: text, message: text })),
    }),
  })
  .describe('An error of the agent catalogue.');
