import { describe, expect, test } from 'vitest';
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
const accepts = (value: unknown): boolean => sectionSchema.safeParse(value).success;

describe('numbers on both sides of their edge', () => {
  test.each([
    [0, false],
    [1, true],
    [5_000, true],
    [5_001, false],
  ])('a deadlineMs of %i is %s', (deadlineMs, expected) => {
    expect(accepts(section({ deadlineMs, baseline: [{ ...stopRule, timeoutMs: 1 }] }))).toBe(expected);
  });
  test.each([
    [0, false],
    [1, true],
    [250, true],
    [251, false],
  ])('a timeoutMs of %i in a stage with a deadline of 250 is %s', (timeoutMs, expected) => {
    expect(accepts(section({ baseline: [{ ...stopRule, timeoutMs }] }))).toBe(expected);
  });
});

describe('the shape of a policy', () => {
  test.each<[string, object]>([
    ['an empty baseline', section({ baseline: [] })],
    ['a missing additional', { deadlineMs: 250, baseline: [stopRule] }],
    ['a baseline rule with a mode', section({ baseline: [{ ...stopRule, mode: 'observe' }] })],
    ['an additional rule without a mode', section({ additional: [stopRule] })],
    [
      'a stop list without caseSensitive',
      section({ baseline: [{ ...stopRule, stopList: { terms: ['a'], match: 'token' } }] }),
    ],
    ['an empty term', section({ baseline: [{ ...stopRule, stopList: { ...stopRule.stopList, terms: [''] } }] })],
    ['a rule with a member of another kind', section({ baseline: [{ ...stopRule, regex: {} }] })],
    ['a detector that masks', section({ baseline: [{ ...detectorRule, action: { type: 'mask', replacement: '' } }] })],
    ['one id twice', section({ additional: [{ ...stopRule, mode: 'enforce' }] })],
  ])('a policy with %s is refused', (_title, value) => {
    expect(accepts(value)).toBe(false);
  });
  test('a policy with an empty list of additional rules is accepted', () => {
    expect(accepts(section())).toBe(true);
  });
});

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
