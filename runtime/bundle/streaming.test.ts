import { expect, test } from 'vitest';
import { defaultBundleLimits } from '#contracts/bundle';
import type { BaselineRule } from '#contracts/policy';
import {
  bundle,
  bundleOf,
  detector,
  masking,
  observed,
  policy,
  quiet,
  regex,
  section,
  stopList,
} from '../testing/build-bundle.ts';
import { judgeStreaming } from './streaming.ts';

const judge = (rules: readonly BaselineRule[], observe: readonly BaselineRule[] = []) => {
  const { streaming, warnings } = judgeStreaming(
    bundle([policy(section([quiet]), section(rules, observe.map(observed)))]),
  );
  return { streaming: streaming[0], warned: warnings.map(({ rule }) => rule) };
};
const allowed = { policyId: 'policy-a', allowed: true };
const forbiddenBy = (rule: string): object => ({ policyId: 'policy-a', allowed: false, rule });

test.each([
  regex('r', 'a{256}'),
  regex('r', 'a+'),
  regex('r', 'a{1,257}'),
  regex('r', 'a{1,300}b[^c]{0,60}d'),
  regex('r', '\\bkey=[a-z]{3,}'),
  regex('r', '\\b[a-z]{255}\\b'),
  stopList('r', ['a'.repeat(256)]),
  stopList('r', ['k'.repeat(100)], { caseSensitive: true }),
  masking(regex('r', '\\bcat\\b'), '#'),
  detector('r'),
])('an enforced rule that is decided within 256 bytes allows streams, without a warning', (rule) => {
  expect(judge([rule])).toEqual({ streaming: allowed, warned: [] });
});

test.each([
  regex('r', 'a{257}'),
  regex('r', 'ж{129}'),
  regex('r', 'a{1,9}|b{257}'),
  regex('r', '\\b[a-z]{256}\\b'),
  regex('r', '\\b\\w+@'),
  regex('r', 'eyJ[A-Za-z0-9_-]+\\.eyJ[A-Za-z0-9_-]+\\.'),
  masking(regex('r', '-----BEGIN[^-]*-----'), '#'),
  stopList('r', ['a'.repeat(257)]),
  stopList('r', ['a'.repeat(257), 'short']),
  stopList('r', ['k'.repeat(100)]),
  ...['^a', 'a$', '\\Aa', 'a\\z', '(?m)^a', 'b|^a'].map((pattern) => regex('r', pattern)),
])('an enforced rule that may need more than 256 bytes, or that is anchored, forbids streams and is named', (rule) => {
  expect(judge([rule])).toEqual({ streaming: forbiddenBy('r'), warned: ['r'] });
});

test('the first enforced rule that needs the whole text is reported', () => {
  expect(judge([quiet, regex('one', '^a'), regex('two', '^b')]).streaming).toEqual(forbiddenBy('one'));
});

test('an observe rule that needs the whole text is a warning and does not forbid streams', () => {
  expect(judge([quiet], [regex('o', '^a'), regex('p', 'a{300}'), regex('q', 'a+')])).toEqual({
    streaming: allowed,
    warned: ['o', 'p'],
  });
});

test('streamed answers need a maxBodyBytes of at least 8,192', () => {
  for (const [maxBodyBytes, streams] of [
    [8_191, false],
    [8_192, true],
  ] as const) {
    const { streaming, warnings } = judgeStreaming(
      bundleOf([quiet], [], { limits: { ...defaultBundleLimits, maxBodyBytes } }),
    );
    expect(streaming).toEqual([{ policyId: 'policy-a', allowed: streams }]);
    expect(warnings).toHaveLength(streams ? 0 : 1);
  }
});

test('rules of the request section do not decide about streams', () => {
  const { streaming, warnings } = judgeStreaming(bundle([policy(section([regex('r', '^a')]), section([quiet]))]));
  expect({ streaming, warnings }).toEqual({ streaming: [allowed], warnings: [] });
});
