import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';

/** Between two looks; longer when it takes long, which an API server is thankful for. */
const shortestPauseMs = 100;
const longestPauseMs = 1_000;

/**
 * Waits until a binding as it was written is applied.
 * @throws CliError refused with the reason when the application failed, conflict when somebody wrote another one
 * meanwhile, timeout
 */
export async function waitApplied(client: KubeClient, written: Stored<ModelBinding>, seconds: number): Promise<void> {
  const { name, generation, uid } = written.metadata;
  const end = performance.now() + seconds * 1_000;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 1.2, longestPauseMs)) {
    const current = await client.get<ModelBinding>(kinds.modelBinding, name);
    if (current === undefined || current.metadata.uid !== uid || current.metadata.generation !== generation) {
      throw new CliError('conflict', `The ModelBinding ${name} was changed by somebody else before it was applied.`);
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

/** What the operator says about the application that the spec wants. */
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
  // Before its route was written it may have failed for want of something: when that appears, it goes on.
  const isLate = last?.outcome === 'Failed' && last.generationId !== undefined;
  if (isCurrent && (applied.status === 'False' || isLate)) {
    const { reason = applied.reason } = last?.outcome === 'Failed' ? last : {};
    return { kind: 'failed', reason, message: message ?? '' };
  }
  return { kind: 'pending', message: message ?? 'the operator did not look at it yet' };
}
