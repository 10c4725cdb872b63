import { expect, test } from 'vitest';
import { guardrailPolicySchema } from './guardrail-policy.ts';
import { tokenSchema } from './metadata.ts';
import { modelBindingSchema } from './model-binding.ts';

test.each([
  ['', true],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
  ['Ünïcode / 2', true],
  ['x\0', false],
  ['x\n', false],
  ['x\u{7f}', false],
])('a free token %j is allowed: %s', (text, isAllowed) => {
  expect(tokenSchema.safeParse(text).success).toBe(isAllowed);
});

test('generated tokens of policies and bindings have the form of allowed tokens', () => {
  const { change } = guardrailPolicySchema.shape.spec.shape;
  const { apply } = modelBindingSchema.shape.spec.shape;
  for (const schema of [change, apply]) {
    expect([schema.safeParse('x').success, schema.safeParse('x\0').success]).toEqual([true, false]);
  }
});
