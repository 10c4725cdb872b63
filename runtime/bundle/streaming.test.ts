import { describe, expect, test } from 'vitest';
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

describe('windows', () => {
  test('show what matches in at most 256 bytes', () => {
    for (const rule of [
      regex('r', 'a{256}'),
      regex('r', 'a+'),
      stopList('r', ['a'.repeat(256)]),
      masking(regex('r', '\\bcat\\b'), '#'),
      detector('r'),
    ]) {
      expect(judge([rule]).streaming).toEqual(allowed);
    }
    expect(judge([regex('r', 'a{1,256}')]).warned).toEqual([]);
  });

  test('do not show what matches nothing shorter than 257 bytes', () => {
    for (const rule of [
      regex('r', 'a{257}'),
      regex('r', 'ж{129}'),
      stopList('r', ['a'.repeat(257)]),
      stopList('r', ['a'.repeat(257), 'b'.repeat(300)]),
    ]) {
      expect(judge([rule])).toEqual({ streaming: forbiddenBy('r'), warned: ['r'] });
    }
    expect(judge([stopList('r', ['a'.repeat(257), 'short'])])).toEqual({ streaming: allowed, warned: ['r'] });
  });

  test('do not show the begin and end of the text', () => {
    for (const pattern of ['^a', 'a$', '\\Aa', 'a\\z', '(?m)^a', 'b|^a']) {
      expect(judge([regex('r', pattern)])).toEqual({ streaming: forbiddenBy('r'), warned: ['r'] });
    }
  });

  test('name the first rule that forbids them', () => {
    expect(judge([quiet, regex('one', '^a'), regex('two', '^b')]).streaming).toEqual(forbiddenBy('one'));
  });

  test('are not forbidden by an observe rule, which is a warning', () => {
    expect(judge([quiet], [regex('o', '^a'), regex('p', 'a{300}'), regex('q', 'a+')])).toEqual({
      streaming: allowed,
      warned: ['o', 'p', 'q'],
    });
  });

  test('are warned of where the longest match exceeds 256 bytes', () => {
    expect(judge([regex('r', 'a{1,257}')])).toEqual({ streaming: allowed, warned: ['r'] });
    expect(judge([stopList('r', ['k'.repeat(100)])])).toEqual({ streaming: allowed, warned: ['r'] });
    expect(judge([stopList('r', ['k'.repeat(100)], { caseSensitive: true })])).toEqual({
      streaming: allowed,
      warned: [],
    });
  });

  test('need bodies of 8,192 bytes', () => {
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

  test('are judged by the response section only', () => {
    const { streaming, warnings } = judgeStreaming(bundle([policy(section([regex('r', '^a')]), section([quiet]))]));
    expect({ streaming, warnings }).toEqual({ streaming: [allowed], warnings: [] });
  });
});
