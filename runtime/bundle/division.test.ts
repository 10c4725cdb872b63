import { expect, test } from 'vitest';
import type { BaselineRule } from '#contracts/policy';
import {
  bundle,
  detector,
  masking,
  observed,
  policy,
  quiet,
  regex,
  section,
  stopList,
} from '../testing/build-bundle.ts';
import { judgeDivision } from './division.ts';

const limits = (maxBodyBytes: number) => ({ limits: { ...bundle([]).limits, maxBodyBytes } });
const judge = (rules: readonly BaselineRule[], maxBodyBytes = 8_192) =>
  judgeDivision(bundle([policy(section(rules), section([regex('other', '^a')]))], limits(maxBodyBytes)))[0];

test.each([
  regex('r', '[a-z ]{512}[a-z ]{512}'),
  regex('r', 'a .+'),
  regex('r', 'key=[^ \\t\\n\\f\\r]+;'),
  stopList('r', ['a'.repeat(1_024)], { caseSensitive: true }),
  masking(stopList('r', ['a b'.repeat(300)], { caseSensitive: true }), '#'),
  masking(regex('r', '[a-z ]{512}[a-z ]{511}'), '#'),
  masking(regex('r', '\\b[\\w.]+@[\\w.]+\\b'), '#'),
  detector('r'),
])('a rule whose matches lie in one piece allows documents: %o', (rule) => {
  expect(judge([rule])).toEqual({ policyId: 'policy-a', allowed: true });
});

test.each([
  regex('r', '[a-z ]{512}[a-z ]{513}'),
  regex('r', 'a.+b'),
  regex('r', '^a'),
  regex('r', 'a$'),
  stopList('r', ['a'.repeat(1_025)], { caseSensitive: true }),
  masking(regex('r', '[a-z ]{512}[a-z ]{512}'), '#'),
  masking(regex('r', 'a .+'), '#'),
  masking(regex('r', '-----BEGIN[^-]*-----'), '#'),
])('a rule that can need more than the overlap forbids documents and is named: %o', (rule) => {
  expect(judge([quiet, rule])).toEqual({ policyId: 'policy-a', allowed: false, rule: 'the rule r' });
});

test('an observe rule does not forbid division, and a maxBodyBytes below 8,192 does', () => {
  const watched = bundle([policy(section([quiet], [observed(regex('r', '^a'))]))], limits(8_192));
  expect(judgeDivision(watched)).toMatchObject([{ allowed: true }]);
  expect(judge([quiet], 8_191)).toMatchObject({ allowed: false, rule: expect.stringContaining('maxBodyBytes') });
});
