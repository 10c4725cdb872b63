import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '#crds/kinds';
import type { ModelBinding } from '#crds/model-binding';
import { openTokenFile } from '#kit/http/token-file';
import { createClient, type KubeClient } from '#kube/client';
import { isKubeError } from '#kube/kube-error';
import type { DataDirectory } from '../platform/data-directory.ts';

/** The binding of examples/guarded-chat. */
const exampleBinding = 'guarded-echo';
const lookEveryMs = 100;
/** When waiting begins to need an explanation. */
const explainAfterMs = 15_000;

/**
 * Waits until the example binding is applied, where there is one: as a resource, or as a file in the watched folder
 * that becomes one. Without one there is nothing to wait for.
 */
export async function waitUntilServed(
  data: DataDirectory,
  api: string,
  say: (sentence: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await using client = createClient({ url: api, tokenFile: openTokenFile(data.apiToken), namespace: 'default' });
  const begun = performance.now();
  let explained = '';
  while (!signal.aborted) {
    const found = await look(client);
    if (found === 'absent' && !existsSync(join(data.apply, 'binding.yaml'))) return;
    if (found === 'applied') return;
    const reason = found === 'absent' ? 'it is not there yet' : found;
    if (performance.now() - begun > explainAfterMs && reason !== explained) {
      explained = reason;
      say(`still waiting for the binding ${exampleBinding} to be applied: ${reason}`);
    }
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** `applied`, `absent`, or why it is not applied. */
async function look(client: KubeClient): Promise<string> {
  try {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, exampleBinding);
    if (binding === undefined) return 'absent';
    const applied = binding.status?.conditions?.find(({ type }) => type === 'Applied');
    const current = applied?.observedGeneration === binding.metadata.generation;
    if (applied?.status === 'True' && current) return 'applied';
    return applied === undefined ? 'the operator did not look at it yet' : applied.message;
  } catch (error) {
    if (isKubeError(error)) return `the operator does not answer (${error.code})`;
    throw error;
  }
}
