import { z } from 'zod';

export const providerTestSteps = ['credential', 'dns', 'tcp', 'tls', 'http', 'model'] as const;

/** The result of a test of one provider, without a text of the provider, a secret or a host. */
const providerTestSchema = z.strictObject({
  provider: z.string().max(128),
  /** `skipped`: the step does not apply, or an earlier step failed. */
  steps: z.array(z.strictObject({ step: z.enum(providerTestSteps), state: z.enum(['ok', 'failed', 'skipped']) })),
  /** The cause of the failure; absent if the provider answered correctly. */
  cause: z.string().max(64).optional(),
  message: z.string().max(4_096),
});
export type ProviderTest = z.infer<typeof providerTestSchema>;
export type ProviderTestStep = ProviderTest['steps'][number];

/** Timeout and maximum size of one answer of GET /provider-test; the test itself takes at most 10 s. */
export const providerTestRequest = { timeoutMs: 15_000, maxBytes: 65_536 } as const;

/** The path of the test of the provider of an alias. */
export function providerTestPath(alias: string): string {
  return `/provider-test?alias=${encodeURIComponent(alias)}`;
}

/** The tests of all gateway replicas; `missing`: replicas without a result, each with a sentence without its subject. */
export const collectedProviderTestsSchema = z.strictObject({
  items: z.array(providerTestSchema.extend({ replica: z.string().max(253) })),
  missing: z.array(z.strictObject({ replica: z.string().max(253), reason: z.string().max(256) })),
});
export type CollectedProviderTests = z.infer<typeof collectedProviderTestsSchema>;

/** The answer of one replica; the status is undefined if the replica did not answer. */
export function readReplicaTest(
  replica: string,
  answer: { readonly status?: number; readonly value?: unknown },
): CollectedProviderTests {
  const missing = (reason: string) => ({ items: [], missing: [{ replica, reason }] });
  if (answer.status === undefined) return missing('does not answer');
  if (answer.status === 404)
    return missing('has no route of this alias, or its PORTCULLIS_ADMIN_TOKEN_FILE is not set');
  if (answer.status !== 200) return missing(`answered with status ${answer.status}`);
  const read = providerTestSchema.safeParse(answer.value);
  return read.success
    ? { items: [{ ...read.data, replica }], missing: [] }
    : missing('sent a result of another version');
}

export function joinProviderTests(parts: readonly CollectedProviderTests[]): CollectedProviderTests {
  return { items: parts.flatMap(({ items }) => items), missing: parts.flatMap((part) => part.missing) };
}
