import { expect, test } from 'vitest';
import { type CheckOutcome, failedCheck } from './check-outcome.ts';
import { noteFailingProviders } from './failing-providers.ts';
import { checkTargetOf } from './testing/check-fixture.ts';

const fault: CheckOutcome = {
  ...failedCheck('provider_unavailable'),
  rule: 'names',
  provider: { name: 'presidio', cause: 'name_not_found' },
};
const shown = [{ rule: 'names', provider: 'presidio', cause: 'name_not_found' }];

function open() {
  let now = 0;
  let next: CheckOutcome = fault;
  const noted = noteFailingProviders({ check: async () => next }, { now: () => now });
  return {
    failing: noted.failing,
    async ends(outcome: CheckOutcome): Promise<void> {
      next = outcome;
      await noted.check(checkTargetOf([]), 'request', []);
    },
    passMs(ms: number): void {
      now += ms;
    },
  };
}

test.each<readonly [string, CheckOutcome, boolean]>([
  ['a pass', { kind: 'pass' }, false],
  ['a deny of its rule', { kind: 'deny', rule: 'names' }, false],
  ['a deny of another rule', { kind: 'deny', rule: 'words' }, true],
  ['a failure that names no provider', failedCheck('stage_timeout'), true],
])('a provider that did not judge is reported, and after %s it is: %3$s', async (_what, outcome, isShown) => {
  const { ends, failing } = open();
  expect(failing()).toEqual([]);
  await ends(fault);
  expect(failing()).toEqual(shown);
  await ends(outcome);
  expect(failing()).toEqual(isShown ? shown : []);
});

test('a provider that has not failed a check for five minutes is no longer reported', async () => {
  const { ends, failing, passMs } = open();
  await ends(fault);
  passMs(299_999);
  expect(failing()).toEqual(shown);
  passMs(1);
  expect(failing()).toEqual([]);
});
