import { expect, test } from 'vitest';
import { sampleBinding, samplePolicy } from '#kube/testing/sample-resources';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { OpenedResources } from '../resources/resource-source.ts';
import { createWarningWriter } from './warning-writer.ts';

test('a frozen policy with several bindings has one warning, which says that a binding was changed', async () => {
  const policy = samplePolicy('chat');
  const labelled = { ...policy, metadata: { ...policy.metadata, labels: { [idLabel]: 'policy-1' } } };
  const opened = {
    client: { get: async () => labelled },
    writer: { applyToBinding: async (binding: unknown) => binding },
  } as unknown as OpenedResources;
  const window = {
    target: { type: 'policy', id: 'policy-1' },
    startsAt: '2026-01-01T00:00:00Z',
    endsAt: '2026-01-03T00:00:00Z',
  };
  const warnings: string[] = [];
  const writer = createWarningWriter(opened, {
    readRules: async () => ({ freezes: [window], rules: [{ policyId: 'policy-1' }] }) as never,
    now: () => new Date('2026-01-02T00:00:00Z'),
    warn: (warning) => void warnings.push(warning),
  });
  const guardrail = { mode: 'Policy', policyRef: { name: 'chat', revision: 1 } } as const;
  for (const name of ['one', 'two', 'three'])
    await writer.applyToBinding(sampleBinding(name) as Stored<ModelBinding>, { guardrail });
  expect(warnings).toEqual([
    'The policy chat is frozen until 2026-01-03T00:00:00Z, and a binding of it was changed nevertheless: freeze windows apply to commands with --via api.',
    'The policy chat requires approvals, and a binding of it was changed without one: approvals apply to commands with --via api.',
  ]);
});
