import { afterEach, expect, test, vi } from 'vitest';
import { KubeError } from '#kube/client/kube-error';
import { sampleBinding } from '#kube/testing/sample-resources';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { describeError } from '../errors/describe-error.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import { applyToBindings } from './apply-to-bindings.ts';

afterEach(() => void vi.restoreAllMocks());

const guardrail = { mode: 'None' } as const;

/** Applies to bindings; the server denies bindings whose name is denied-SOMETHING. */
async function exitOf(names: readonly string[], dryRun?: 'server'): Promise<string> {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const applyToBinding = async ({ metadata }: { readonly metadata: { readonly name: string } }) => {
    if (metadata.name.startsWith('denied')) throw new KubeError('invalid', 'webhook denied it', { status: 400 });
    return sampleBinding(metadata.name);
  };
  const wanted = names.map((name) => ({ binding: sampleBinding(name) as Stored<ModelBinding>, guardrail }));
  const opened = { writer: { applyToBinding }, environment: async () => undefined } as unknown as OpenedResources;
  return applyToBindings(opened, wanted, dryRun === undefined ? {} : { dryRun }).then(
    () => 'success',
    (error: unknown) => describeError(error).exit,
  );
}

test.each([
  [['one', 'denied-two'], 'refused'],
  [['denied-one', 'two'], 'refused'],
  [['denied-one', 'two', 'denied-three'], 'refused'],
  [['denied-one', 'denied-two'], 'usage'],
  [['denied-one'], 'usage'],
  [['one', 'two'], 'success'],
])('an application to %j ends with %s: usage says that nothing was changed', async (names, exit) => {
  expect(await exitOf(names)).toBe(exit);
});

test('a dry run changes nothing, so that a denied binding keeps its exit code', async () => {
  expect(await exitOf(['one', 'denied-two'], 'server')).toBe('usage');
});
