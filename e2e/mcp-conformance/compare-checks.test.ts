import { expect, test } from 'vitest';
import { compareChecks } from './compare-checks.ts';
import { agentChecks, agentChecksAhead } from './expected-agent-checks.ts';
import { expectedFailures, expectedPasses } from './expected-checks.ts';

const expected = { passes: ['ping ping'], failures: { 'logs level': { reason: 'none', message: 'Method not found' } } };
const ping = { scenario: 'ping', id: 'ping', status: 'SUCCESS', message: '' };
const logs = { scenario: 'logs', id: 'level', status: 'FAILURE', message: 'Failed: Method not found' };
const kindsOf = (...checks: readonly (typeof ping)[]) => compareChecks(checks, expected).map(({ kind }) => kind);

test('a check that ends as expected counts as passed, or as expected if it must fail', () => {
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
])('%s counts as failed', (_, checks) => {
  expect(kindsOf(...checks)).toContain('failed');
});

test.each([
  ['services', { passes: expectedPasses, failures: expectedFailures }],
  ['agents', agentChecks],
  ['agents and the next suite', agentChecksAhead],
])('no check of %s is in both the list of expected passes and that of expected failures', (_, { passes, failures }) => {
  expect(passes.filter((name) => name in failures)).toEqual([]);
});
