import { z } from 'zod';
import { agentBundleSchema } from './agent-bundle.ts';
import { digestOf } from './canonical.ts';

const { shape } = agentBundleSchema;

/**
 * One immutable version of an agent that an image runs. The operator makes the workload from this file, and the process
 * gets the ids as environment variables (docs/bring-an-sdk-agent.md).
 */
export const sdkBundleSchema = z.strictObject({
  formatVersion: z.literal(1),
  agentId: shape.agentId,
  versionId: shape.versionId,
  digest: shape.digest,
  /** The image, named by its digest. */
  image: z.string().min(1).max(512),
  /** SHA-256 of the canonical JSON of the published card; absent for a tool of MCP. */
  cardDigest: shape.digest.optional(),
  /** The only tool of MCP; absent for an agent of A2A. */
  tool: z.string().min(1).max(128).optional(),
  requires: shape.requires,
  limits: shape.limits,
  guardrails: shape.guardrails,
  publicUrl: shape.publicUrl,
});

export type SdkBundle = z.infer<typeof sdkBundleSchema>;

/** The digest of an SDK bundle: SHA-256 of the canonical JSON of all members except `digest`. */
export function sdkBundleDigest(bundle: Omit<SdkBundle, 'digest'>): string {
  return digestOf({ ...bundle, digest: undefined });
}
