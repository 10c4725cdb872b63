import { expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { rollbackTarget } from './rollback.ts';

test('rollback accepts a binding by its name or as KIND/NAME, and an agent as agent/NAME', () => {
  const binding = { kind: kinds.modelBinding, name: 'guarded-echo' };
  for (const word of ['guarded-echo', 'binding/guarded-echo', 'mb/guarded-echo']) {
    expect([word, rollbackTarget(word)]).toEqual([word, binding]);
  }
  expect(rollbackTarget('agent/desk')).toEqual({ kind: kinds.agent, name: 'desk' });
});

test('rollback refuses a kind without a previous state, and a name that is empty or has two slashes', () => {
  expect(() => rollbackTarget('policy/guarded-chat')).toThrow('The kind GuardrailPolicy has no rollback');
  expect(() => rollbackTarget('agentversion/desk-1')).toThrow('The kind AgentVersion has no rollback');
  for (const word of ['agent/', 'agent/desk/1']) expect(() => rollbackTarget(word)).toThrow('is not KIND/NAME');
});
