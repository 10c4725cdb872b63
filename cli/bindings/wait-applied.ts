import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';

/** Pause between two reads; it grows to limit the load on the API server. */
const shortestPauseMs = 100;
const longestPauseMs = 1_000;

/**
 * Waits until the given generation of a binding is applied.
 * @throws CliError refused if the application failed, conflict if the binding was changed meanwhile, timeout
 */
export async function waitApplied(client: KubeClient, written: Stored<ModelBinding>, seconds: number): Promise<void> {
  const { name, generation, uid } = written.metadata;
  const end = performance.now() + seconds * 1_000;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 1.2, longestPauseMs)) {
    const current = await client.get<ModelBinding>(kinds.modelBinding, name);
    if (current === undefined || current.metadata.uid !== uid || current.metadata.generation !== generation) {
      throw new CliError('conflict', `The ModelBinding ${name} was changed before it was applied.`);
    }
    const outcome = outcomeOf(current);
    if (outcome.kind === 'applied') return;
    if (outcome.kind === 'failed') {
      throw new CliError('refused', `The ModelBinding ${name} was not applied (${outcome.reason}): ${outcome.message}`);
    }
    if (performance.now() > end) {
      throw new CliError('timeout', `The ModelBinding ${name} was not applied within ${seconds} s: ${outcome.message}`);
    }
    await delay(pauseMs);
  }
}

type Outcome =
  | { readonly kind: 'applied' }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'pending'; readonly message: string };

/** The outcome of the application that the spec asks for. */
export function outcomeOf({ spec, metadata, status }: Stored<ModelBinding>): Outcome {
  const said = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const applied = said('Applied');
  const isCurrent = applied?.observedGeneration === metadata.generation;
  const message = (applied?.status === 'Unknown' ? said('Ready') : applied)?.message;
  if (isCurrent && applied.status === 'True') return { kind: 'applied' };
  const refused = said('Accepted');
  if (refused?.observedGeneration === metadata.generation && refused.status === 'False') {
    return { kind: 'failed', reason: refused.reason, message: refused.message };
  }
  const last = status?.applications?.find(({ operationId }) => operationId === (spec.apply ?? ''));
  // A failure before the route was written may be a missing dependency; it is retried when the dependency appears.
  const isLate = last?.outcome === 'Failed' && last.generationId !== undefined;
  if (isCurrent && (applied.status === 'False' || isLate)) {
    const { reason = applied.reason } = last?.outcome === 'Failed' ? last : {};
    return { kind: 'failed', reason, message: message ?? '' };
  }
  return { kind: 'pending', message: message ?? 'the operator has not processed it yet' };
}
