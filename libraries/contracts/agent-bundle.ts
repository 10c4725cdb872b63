import { z } from 'zod';
import { digestOf } from './canonical.ts';
import { flowLimits } from './flow-limits.ts';

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max);
const source = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= flowLimits.sourceBytes, {
    error: `must have at most ${flowLimits.sourceBytes} bytes`,
  });
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/);
/** A revision of a policy, or the explicit value None. */
const guardrail = z.union([z.literal('None'), z.strictObject({ name, revision: z.int().min(1) })]);

/** Kinds of things outside of an agent that its flow names. */
export const requiredKinds = ['model', 'collection', 'connection', 'mcp', 'agent', 'memory', 'policy'] as const;

/**
 * One immutable version of an agent, as the file that its process reads (docs/design/agents.md). `flow`, `manifest`,
 * `tests` and `subflows` are the texts of the author; the platform sets all other members.
 */
export const agentBundleSchema = z.strictObject({
  formatVersion: z.literal(1),
  agentId: z.uuid(),
  versionId: z.uuid(),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  flow: source,
  manifest: source,
  tests: source.optional(),
  /** The sources of all flows that the flow runs as subflows. */
  subflows: z.array(source).min(1).max(flowLimits.subflows).optional(),
  requires: z.array(z.strictObject({ kind: z.enum(requiredKinds), name })).max(flowLimits.nodes),
  limits: z.strictObject({
    requestBytes: within(flowLimits.manifest.requestBytes),
    timeoutMs: within(flowLimits.run.timeoutMs),
    concurrency: within(flowLimits.manifest.concurrency),
  }),
  guardrails: z.strictObject({ input: guardrail, output: guardrail }),
  /** Canonical address of this version at the agent gateway, without a slash at its end. */
  publicUrl: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .regex(/[^/]$/),
});

export type AgentBundle = z.infer<typeof agentBundleSchema>;

/** The digest of a bundle: SHA-256 of the canonical JSON of everything but `digest`. */
export function agentBundleDigest(bundle: Omit<AgentBundle, 'digest'>): string {
  return digestOf({ ...bundle, digest: undefined });
}
