import { expect, test } from 'vitest';
import { compareChecks } from './compare-checks.ts';
import { countVerdicts } from './count-verdicts.ts';
import { agentChecks, agentChecksAhead } from './expected-agent-checks.ts';
import { expectedFailures, expectedPasses } from './expected-checks.ts';

const expected = { passes: ['ping ping'], failures: { 'logs level': { reason: 'none', message: 'Method not found' } } };
const ping = { scenario: 'ping', id: 'ping', status: 'SUCCESS', message: '' };
const logs = { scenario: 'logs', id: 'level', status: 'FAILURE', message: 'Failed: Method not found' };
const kindsOf = (...checks: readonly (typeof ping)[]) => compareChecks(checks, expected).map(({ kind }) => kind);

test('a conformance check that ends as expected counts as passed, or as expected if it must fail', () => {
  expect(kindsOf(ping, logs)).toEqual(['passed', 'expected']);
  expect(kindsOf(ping, { ...logs, status: 'WARNING' })).toEqual(['passed', 'expected']);
  expect(kindsOf({ ...ping, status: 'INFO', id: 'sent' }, ping, logs)).toEqual(['passed', 'expected']);
});

test.each([
  ['a pass that fails', [{ ...ping, status: 'FAILURE' }, logs]],
  ['a pass with a warning', [{ ...ping, status: 'WARNING' }, logs]],
  ['a failure that succeeds now', [ping, { ...logs, status: 'SUCCESS' }]],
  ['a failure for another reason', [ping, { ...logs, message: 'fetch failed' }]],
  ['a check that is not reported', [ping]],
  ['a check that is reported twice', [ping, ping, logs]],
  ['a check that nothing is expected of', [ping, logs, { ...ping, id: 'other' }]],
  ['a suite that reports nothing', []],
])('a conformance check with %s counts as failed', (_, checks) => {
  expect(kindsOf(...checks)).toContain('failed');
});

test('a conformance suite that cannot be installed counts as skipped, as an expected failure does', () => {
  const verdicts = [
    { name: 'ping', kind: 'passed', words: '' },
    { name: 'logs', kind: 'expected', words: 'none' },
    { name: 'the next suite', kind: 'unavailable', words: 'npm has no network' },
  ] as const;
  expect(countVerdicts(verdicts)).toEqual({
    lines: [
      'ok ping',
      'expected failure logs: none',
      'not available the next suite: npm has no network',
      '1 passed, 0 failed, 2 skipped',
    ],
    failed: 0,
  });
  const wrong = { name: 'tools', kind: 'failed', words: 'is not reported' } as const;
  const { lines, failed } = countVerdicts([...verdicts, wrong]);
  expect([lines.at(-1), failed]).toEqual(['1 passed, 1 failed, 2 skipped', 1]);
});

test.each([
  ['services', { passes: expectedPasses, failures: expectedFailures }],
  ['agents', agentChecks],
  ['agents and the next suite', agentChecksAhead],
])('no check of %s is in both the list of expected passes and that of expected failures', (_, { passes, failures }) => {
  expect(passes.filter((name) => name in failures)).toEqual([]);
});
