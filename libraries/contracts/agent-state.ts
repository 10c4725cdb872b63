import { z } from 'zod';
import { failingProviderSchema } from './failing-provider.ts';

/**
 * Why an agent process is not ready (`agents:health:ready`): the missing or invalid dependency, or
 * `advertised_capability_unavailable` for a mode that was requested and is not confirmed.
 */
export const agentProblemCodes = [
  'bundle_invalid',
  'source_invalid',
  'manifest_invalid',
  'policy_invalid',
  'entry_point_invalid',
  'card_invalid',
  'setting_invalid',
  'advertised_capability_unavailable',
  'starting',
  'shutting_down',
] as const;

const problem = z.strictObject({
  code: z.enum(agentProblemCodes),
  /** Name of the capability; set with `advertised_capability_unavailable` only. */
  capability: z.string().optional(),
  message: z.string(),
});
export type AgentProblem = z.infer<typeof problem>;

export const agentStateLimits = { failingProviders: 64 } as const;

/** The answer of `GET /state` on the admin address of an agent process. */
export const agentStateSchema = z.strictObject({
  agentId: z.string().optional(),
  versionId: z.string().optional(),
  digest: z.string().optional(),
  build: z.string(),
  ready: z.boolean(),
  problems: z.array(problem),
  /** For each capability that the manifest requests, by name: whether the startup check confirmed it. */
  capabilities: z.record(z.string(), z.boolean()),
  /** SHA-256 of the canonical JSON of the card; absent for a version without the mode a2a_agent. */
  cardDigest: z.string().optional(),
  /** The rules of its policies whose detector or classifier returns no judgement; absent if there is no such rule. */
  failingProviders: z.array(failingProviderSchema).max(agentStateLimits.failingProviders).optional(),
  /** Number of runs in progress. */
  runs: z.int().min(0),
});
export type AgentState = z.infer<typeof agentStateSchema>;
