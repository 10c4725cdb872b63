import { z } from 'zod';
import { requiredKinds } from '#contracts/agent-bundle';

/** Largest verdict in bytes. A verdict contains names and positions, never source text. */
export const maxVersionVerdictBytes = 1_048_576;

/** Job of the child process that checks a version: its texts (docs/design/agent-versions.md). */
export const versionJobSchema = z.strictObject({
  flow: z.string(),
  manifest: z.string(),
  tests: z.string(),
  subflows: z.array(z.string()).optional(),
  /**
   * Whether the version has already run. Then its size is not checked again, because an earlier release may have had no
   * limit.
   */
  hasRun: z.boolean().optional(),
});
export type VersionJob = z.infer<typeof versionJobSchema>;

const guardrail = z.union([z.literal('None'), z.strictObject({ policy: z.string(), revision: z.int() })]);

/** The members of a manifest that are compared with the resource of the version. */
const publishedSchema = z.strictObject({
  guardrails: z.strictObject({ input: guardrail, output: guardrail }),
  requires: z.array(z.strictObject({ kind: z.enum(requiredKinds), name: z.string() })),
  limits: z.strictObject({ requestBytes: z.int(), timeoutMs: z.int(), concurrency: z.int() }),
  modes: z
    .array(z.enum(['A2A', 'MCP']))
    .min(1)
    .max(2),
});
export type PublishedVersion = z.infer<typeof publishedSchema>;

/** The verdict: the first problem, or the published members with the names of failed tests. */
export const versionVerdictSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('refused'),
    part: z.enum(['flow', 'manifest', 'tests', 'card']),
    /** `FILE:LINE:COLUMN: node ID, PATH MESSAGE` of the first problem. */
    problem: z.string(),
    /** Number of all problems of this part. */
    count: z.int().min(1),
  }),
  z.strictObject({
    kind: z.literal('loaded'),
    published: publishedSchema,
    /** Number of tests; 0 for an image. */
    tests: z.int().min(0),
    failed: z.array(z.string()),
  }),
]);
export type VersionVerdict = z.infer<typeof versionVerdictSchema>;
