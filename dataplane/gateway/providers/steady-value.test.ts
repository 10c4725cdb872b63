import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { createSteadyValue } from './steady-value.ts';

test('the first change of a provider state is reported immediately, and further ones of an alternating state at most every few minutes', () => {
  const clock = createFakeClock();
  const shown: string[] = [];
  using value = createSteadyValue('reachable', {
    onChange: (next) => shown.push(next),
    clock,
    pauses: { firstMs: 1_000, maxMs: 300_000 },
  });
  value.observe('refused');
  expect(shown).toEqual(['refused']);
  for (let second = 0; second < 3_600; second += 1) {
    clock.advance(1_000);
    value.observe(second % 2 === 0 ? 'reachable' : 'refused');
  }
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.length).toBeLessThan(40);
});
