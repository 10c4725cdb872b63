import { expect, test } from 'vitest';
import { describeProblem } from './describe-problem.ts';

test('a problem sentence names policy, section and rule once, as far as they are known', () => {
  const problem = { policyId: '0190163d-8694-739b-aea5-966c26f8ad90', message: 'too large: make it smaller' };
  expect(describeProblem({ ...problem, stage: 'request', rule: 'r' }, 'guard')).toBe(
    'policy guard, request section, rule r: too large: make it smaller',
  );
  expect(describeProblem({ ...problem, stage: 'response' }, undefined)).toBe(
    'response section: too large: make it smaller',
  );
  expect(describeProblem(problem, undefined)).toBe('too large: make it smaller');
});
