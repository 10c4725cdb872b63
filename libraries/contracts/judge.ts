import { z } from 'zod';
import { limits } from './limits.ts';
import { providerCauses } from './provider-causes.ts';

/** Maximum number of bytes of a verdict: a bundle in its canonical form, escaped, and the results of its tests. */
export const maxVerdictBytes = 16 * 1_024 * 1_024;

/**
 * Job and verdict of the validation of a bundle in a child process (`runtime/judge.ts`): each line of stdin is a job in
 * JSON, and each line of stdout is the verdict of one job, in the same order; the exit code is 0 if every job got a
 * verdict.
 */
export const judgeJobSchema = z.strictObject({
  /** The bundle to validate as JSON text, canonical or not. */
  bundle: z.string(),
  /** Texts that are checked with the local rules of one policy of the bundle. */
  checks: z.array(
    z.strictObject({
      name: z.string(),
      policyId: z.string(),
      stage: z.enum(['request', 'response']),
      messages: z
        .array(z.strictObject({ role: z.string(), content: z.string() }))
        .min(1)
        .max(limits.maxMessages.max),
    }),
  ),
  /**
   * If set, rules with a provider call the provider with the credentials of this folder; otherwise these rules are
   * skipped and listed.
   */
  secretsDirectory: z.string().optional(),
  /**
   * Folder for figures of patterns from earlier validations; created if it is missing. The folder is used only if no
   * other account can write to it.
   */
  cacheDirectory: z.string().optional(),
  /** Whether results list every match of the mask rules. */
  marks: z.boolean().optional(),
  /** The same policy with masks instead of denials: the matches of its rules become the marks of the results. */
  marksBundle: z.string().optional(),
  /** Maximum number of threads; the limit of the process when absent. */
  threads: z.int().min(1).optional(),
  /** Writes `judged N of M` to stderr after each pattern that is worked out, in local rules. */
  progress: z.boolean().optional(),
});

const place = {
  policyId: z.string().optional(),
  stage: z.enum(['request', 'response']).optional(),
  rule: z.string().optional(),
};

export const judgeVerdictSchema = z.strictObject({
  /** SHA-256 of the bundle's canonical form; absent when the bundle has no canonical form. */
  digest: z.string().optional(),
  /** The bundle's canonical form; absent when the bundle was refused. */
  canonical: z.string().optional(),
  /** A bundle with a problem is refused. */
  problems: z.array(
    z.strictObject({ ...place, code: z.enum(['bundle_invalid', 'rule_too_costly']), message: z.string() }),
  ),
  warnings: z.array(z.strictObject({ ...place, message: z.string() })),
  /**
   * Per policy: whether its response section can be checked in windows
   * (`gateway:stream:whole-document-needs-stream-false`).
   */
  streaming: z.array(z.strictObject({ policyId: z.string(), allowed: z.boolean(), rule: z.string().optional() })),
  /** Per policy: whether its request section can judge long texts in pieces. */
  division: z.array(z.strictObject({ policyId: z.string(), allowed: z.boolean(), rule: z.string().optional() })),
  results: z.array(
    z.strictObject({
      name: z.string(),
      decision: z.enum(['Pass', 'Reject', 'Mask', 'Failed']),
      /** The code of a failed check. */
      code: z.string().optional(),
      /** Why the provider of the rule of a failed check did not judge. */
      cause: z.enum(providerCauses).optional(),
      /** The deciding rule of a Reject, or the masking rules. */
      rules: z.array(z.string()),
      /** The contents after a mask. */
      contents: z.array(z.string()).optional(),
      /**
       * The matches of each mask rule in the original texts, with offsets in UTF-16 code units; present if the job
       * requested them.
       */
      marks: z
        .array(z.strictObject({ rule: z.string(), message: z.int(), start: z.int(), end: z.int() }))
        .max(20_000)
        .optional(),
      /** Rules that were not run because they need a provider. */
      skipped: z.array(z.string()),
    }),
  ),
});

export type JudgeJob = z.infer<typeof judgeJobSchema>;
export type JudgeVerdict = z.infer<typeof judgeVerdictSchema>;
