import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '#kube/client/client';
import { applicationOutcome } from '#resources/binding-state';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';

/** Shortest pause between two reads, milliseconds; it grows to limit the load on the API server. */
const shortestPauseMs = 100;
const longestPauseMs = 1_000;
/** The operator reads a changed list of providers within a second, and then retries an application that needs it. */
const providersReadMs = 2_000;

/**
 * Waits until the given generation of a binding is applied.
 * @param onState called with a sentence for each state that the binding passes through
 * @throws CliError refused if the application failed, conflict if the binding was changed meanwhile, timeout
 */
export async function waitApplied(
  client: KubeClient,
  written: Stored<ModelBinding>,
  seconds: number,
  onState: (sentence: string) => void = () => undefined,
): Promise<void> {
  let said = '';
  const { name, generation, uid } = written.metadata;
  const start = performance.now();
  const end = start + seconds * 1_000;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 1.2, longestPauseMs)) {
    const current = await client.get<ModelBinding>(kinds.modelBinding, name);
    if (current === undefined || current.metadata.uid !== uid || current.metadata.generation !== generation) {
      throw new CliError('conflict', `The ModelBinding ${name} was changed before it was applied.`);
    }
    const outcome = applicationOutcome(current);
    const now = performance.now();
    if (outcome.kind === 'applied') return;
    const mayBeApproved =
      outcome.kind === 'failed' &&
      outcome.reason === 'provider_unknown' &&
      now < Math.min(start + providersReadMs, end);
    if (outcome.kind === 'failed' && !mayBeApproved) {
      throw new CliError('refused', `The ModelBinding ${name} was not applied (${outcome.reason}): ${outcome.message}`);
    }
    if (outcome.message !== said && !mayBeApproved) onState(`ModelBinding ${name}: ${outcome.message}`);
    said = outcome.message;
    if (now >= end) {
      throw new CliError('timeout', `The ModelBinding ${name} was not applied within ${seconds} s: ${outcome.message}`);
    }
    await delay(pauseMs);
  }
}
