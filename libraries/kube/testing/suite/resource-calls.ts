import { expect } from 'vitest';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { applyDesired, statusOperations } from '../../apply/apply.ts';
import type { KubeClient } from '../../client/client.ts';
import type { KubeErrorCode } from '../../client/kube-error.ts';

/** The kind that most tests use. */
export const policies = kinds.guardrailPolicy;
/** Returns the client of the server under test, once a test runs. */
export type ClientSource = () => KubeClient;

export async function expectRefused(code: KubeErrorCode, call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ name: 'KubeError', code });
}

export function rename(client: KubeClient, current: Stored<GuardrailPolicy>, displayName: string) {
  return applyDesired(client, policies, current, { spec: { ...current.spec, displayName } });
}

export function writeStatus(
  client: KubeClient,
  current: Stored<GuardrailPolicy>,
  status: NonNullable<GuardrailPolicy['status']>,
) {
  return client.patchStatus<GuardrailPolicy>(policies, current.metadata.name, statusOperations(current, status));
}

export async function present(client: KubeClient, name: string): Promise<Stored<GuardrailPolicy>> {
  const object = await client.get<GuardrailPolicy>(policies, name);
  if (object === undefined) throw new Error(`the object ${name} does not exist`);
  return object;
}

/** A watch that ends after 20 seconds at the latest. */
export function changes(client: KubeClient, resourceVersion: string) {
  return client.watch<GuardrailPolicy>(policies, { resourceVersion, signal: AbortSignal.timeout(20_000) });
}

export async function collect(client: KubeClient, resourceVersion: string, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of changes(client, resourceVersion)) {
    if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${(event.object as Resource).metadata.name}`);
    if (seen.length === count) break;
  }
  return seen;
}

/** Repeats a check until it passes; fails with the last error of the check after 20 seconds. */
export async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (true) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
