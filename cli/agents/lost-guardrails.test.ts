import { expect, test } from 'vitest';
import type { AgentVersion } from '#resources/agent-version';
import { lostGuardrails } from './lost-guardrails.ts';

type Mode = 'Policy' | 'None';
const guardrail = (mode: Mode) =>
  mode === 'None' ? ({ mode } as const) : ({ mode, policyRef: { name: 'chat', revision: 1 } } as const);
const version = (name: string, input: Mode, output: Mode) =>
  ({
    metadata: { name },
    spec: { guardrails: { input: guardrail(input), output: guardrail(output) } },
  }) as AgentVersion;
const effect = (present: readonly [Mode, Mode], next: readonly [Mode, Mode]) =>
  lostGuardrails('desk', version('desk-1', ...present), version('desk-2', ...next));

test.each([
  [['Policy', 'Policy'], ['None', 'None'], 'what callers send and what the agent answers'],
  [['Policy', 'Policy'], ['None', 'Policy'], 'what callers send'],
  [['None', 'Policy'], ['None', 'None'], 'what the agent answers'],
  [['Policy', 'None'], ['None', 'Policy'], 'what callers send'],
] as const)('a version with %j, then %j, leaves texts unguarded: %s', (present, next, texts) => {
  expect(effect(present, next)).toBe(
    `Agent desk would serve the version desk-2, which leaves ${texts} UNGUARDED. The version desk-1 has it checked.`,
  );
});

test.each([
  [
    ['Policy', 'Policy'],
    ['Policy', 'Policy'],
  ],
  [
    ['None', 'None'],
    ['None', 'None'],
  ],
  [
    ['None', 'None'],
    ['Policy', 'Policy'],
  ],
  [
    ['Policy', 'None'],
    ['Policy', 'Policy'],
  ],
] as const)('no check is lost from %j to %j', (present, next) => {
  expect(effect(present, next)).toBeUndefined();
});
