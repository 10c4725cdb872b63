import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bindingRunbooks, runbookOf } from './runbook-of.ts';

const cause = (part: string, rule?: string) => ({
  part,
  state: 'fault' as const,
  reason: 'X',
  message: '',
  ...(rule === undefined ? {} : { rule }),
});

test('a binding that needs attention has the runbook of its first cause, and a binding without a cause has no runbook', () => {
  expect(runbookOf({ state: 'pending', cause: cause('Operator') })).toBe('no-leader');
  expect(runbookOf({ state: 'applied', cause: cause('Provider') })).toBe('provider-unreachable');
  expect(runbookOf({ state: 'applied', cause: cause('Provider', 'toxicity') })).toBe('rule-errors');
  const states = ['failed', 'pending', 'deleting', 'unguarded', 'applied', 'disabled'] as const;
  expect(states.map((state) => runbookOf({ state, cause: cause('Applied') }))).toEqual([
    'binding-failed',
    'binding-pending',
    'binding-pending',
    'model-unguarded',
    'gateway-degraded',
    'gateway-degraded',
  ]);
  expect(runbookOf({ state: 'applied' })).toBeUndefined();
});

test.each(bindingRunbooks)('the runbook %s exists', (name) => {
  expect(existsSync(new URL(`../../docs/runbooks/${name}.md`, import.meta.url))).toBe(true);
});
