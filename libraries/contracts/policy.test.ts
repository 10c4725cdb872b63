import { expect, test } from 'vitest';
import { definitionSchema, isEnforced, providerOf, rulesInOrder, type Section, sectionSchema } from './policy.ts';

const stopRule = {
  id: 'words',
  kind: 'stop_list',
  timeoutMs: 20,
  action: { type: 'deny' },
  stopList: { terms: ['secret'], match: 'token', caseSensitive: false },
} as const;
const detectorRule = {
  id: 'detector',
  kind: 'external_pipeline',
  timeoutMs: 20,
  action: { type: 'deny' },
  externalPipeline: { provider: 'pii', contract: 'platform.guardrail-runtime.detector/v1' },
} as const;

function section(change: object = {}): object {
  return { deadlineMs: 250, baseline: [stopRule], additional: [], ...change };
}

test('a policy may name a provider that is not listed: the application fails, not the policy', () => {
  const definition = { request: section({ baseline: [detectorRule] }), response: section(), providers: [] };
  expect(definitionSchema.safeParse(definition).success).toBe(true);
});

test('a policy that lists a provider twice is refused', () => {
  const provider = { name: 'pii', credentialRef: { name: 'pii' } };
  const definition = { request: section(), response: section(), providers: [provider, provider] };
  expect(definitionSchema.safeParse(definition).success).toBe(false);
});

test('baseline rules run before additional rules, in list order; only an observing rule is not enforced', () => {
  const parsed: Section = sectionSchema.parse(
    section({
      additional: [
        { ...detectorRule, mode: 'observe' },
        { ...stopRule, id: 'more', mode: 'enforce' },
      ],
    }),
  );
  const rules = rulesInOrder(parsed);
  expect(rules.map((rule) => rule.id)).toEqual(['words', 'detector', 'more']);
  expect(rules.map(isEnforced)).toEqual([true, false, true]);
  expect(rules.map(providerOf)).toEqual([undefined, 'pii', undefined]);
});
