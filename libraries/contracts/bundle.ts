import { z } from 'zod';
import { limits } from './limits.ts';
import { sectionSchema } from './policy.ts';
import { contentProfiles } from './profiles.ts';

/** The schema name of a bundle (`guardrail:versioning:schema-bundle-v1`). */
export const bundleSchemaName = 'platform.guardrail-runtime.bundle/v1';

const range = (limit: { readonly min: number; readonly max: number }) => z.int().min(limit.min).max(limit.max);

/** Limits of one bundle: settings of the environment, written into the bundle when it is built (`guardrail:limits:*`). */
export const bundleLimitsSchema = z.strictObject({
  maxBodyBytes: range(limits.maxBodyBytes),
  maxMessages: range(limits.maxMessages),
  maxMatches: range(limits.maxMatches),
  maxConcurrency: range(limits.maxConcurrency),
  queueSize: z.literal(0),
});

export const defaultBundleLimits: BundleLimits = {
  maxBodyBytes: limits.maxBodyBytes.default,
  maxMessages: limits.maxMessages.default,
  maxMatches: limits.maxMatches.default,
  maxConcurrency: limits.maxConcurrency.default,
  queueSize: 0,
};

/**
 * A provider in the form of the bundle: copied from the approved list of the environment, so that the digest covers it.
 * `credential` is the name of a file in the secrets folder of the runtime, never the secret.
 */
const bundleProviderSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    name: z.string().min(1).max(128),
    kind: z.literal('detector'),
    endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
    credential: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
  }),
  z.strictObject({
    name: z.string().min(1).max(128),
    kind: z.literal('classifier'),
    endpoint: z.url({ protocol: /^https?$/ }).max(2_048),
    model: z.string().min(1).max(256),
    credential: z.string().regex(/^[A-Za-z0-9._-]{1,128}$/),
  }),
]);

export const bundlePolicySchema = z.strictObject({
  id: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[\x21-\x7e]+$/),
  revision: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[\x21-\x7e]+$/),
  request: sectionSchema,
  response: sectionSchema,
});

/** The file that a runtime loads (`bundle:file:*`, `bundle:policy:*`). */
export const bundleSchema = z
  .strictObject({
    schema: z.literal(bundleSchemaName),
    contentProfile: z.enum(contentProfiles),
    limits: bundleLimitsSchema,
    policies: z.array(bundlePolicySchema).min(1).max(1_000),
    providers: z.array(bundleProviderSchema).max(64),
  })
  .superRefine((bundle, context) => {
    const ids = new Set<string>();
    for (const [index, policy] of bundle.policies.entries()) {
      if (ids.has(policy.id)) {
        context.addIssue({
          code: 'custom',
          path: ['policies', index, 'id'],
          message: 'is used twice: give the policy another id',
        });
      }
      ids.add(policy.id);
    }
    const providers = new Map(bundle.providers.map((provider) => [provider.name, provider.kind]));
    if (providers.size !== bundle.providers.length) {
      context.addIssue({ code: 'custom', path: ['providers'], message: 'has a name twice: remove one' });
    }
    for (const [index, policy] of bundle.policies.entries()) {
      for (const stage of ['request', 'response'] as const) {
        for (const list of ['baseline', 'additional'] as const) {
          for (const [position, rule] of policy[stage][list].entries()) {
            const wanted =
              rule.kind === 'external_pipeline'
                ? ({ name: rule.externalPipeline.provider, kind: 'detector' } as const)
                : rule.kind === 'llm_classifier'
                  ? ({ name: rule.llmClassifier.provider, kind: 'classifier' } as const)
                  : undefined;
            if (wanted !== undefined && providers.get(wanted.name) !== wanted.kind) {
              context.addIssue({
                code: 'custom',
                path: ['policies', index, stage, list, position],
                message: `the rule ${rule.id} needs a ${wanted.kind} named ${wanted.name}, which the bundle does not contain`,
              });
            }
          }
        }
      }
    }
  });

export type BundleLimits = z.infer<typeof bundleLimitsSchema>;
export type BundleProvider = z.infer<typeof bundleProviderSchema>;
export type BundlePolicy = z.infer<typeof bundlePolicySchema>;
export type Bundle = z.infer<typeof bundleSchema>;
