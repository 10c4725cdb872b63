import { setTimeout as delay } from 'node:timers/promises';
import { findCondition } from '#kube/apply/conditions';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';

const pauseMs = 200;

/**
 * Waits until the operator has judged the given generation of a policy.
 * @param onState called with a sentence for each state that the policy passes through
 * @returns the warnings as one sentence; undefined without warnings
 * @throws CliError refused if its rules are refused, conflict if the policy was changed meanwhile, timeout
 */
export async function waitJudged(
  client: KubeClient,
  written: Stored<GuardrailPolicy>,
  seconds: number,
  onState: (sentence: string) => void = () => undefined,
): Promise<string | undefined> {
  const { name, generation, uid } = written.metadata;
  const end = performance.now() + seconds * 1_000;
  let said: string | undefined;
  for (;;) {
    const current = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (current === undefined || current.metadata.uid !== uid || current.metadata.generation !== generation) {
      throw new CliError('conflict', `The GuardrailPolicy ${name} was changed before it was judged.`);
    }
    const { conditions } = current.status ?? {};
    const valid = findCondition(conditions, 'Valid');
    if (valid?.observedGeneration === generation) {
      if (valid.status === 'False') {
        throw new CliError('refused', `The GuardrailPolicy ${name} is refused (${valid.reason}): ${valid.message}`);
      }
      const warnings = findCondition(conditions, 'Warnings');
      return warnings?.status === 'True' ? `policy ${name}: ${warnings.message}` : undefined;
    }
    const accepted = findCondition(conditions, 'Accepted');
    if (accepted?.observedGeneration === generation && accepted.status === 'False') {
      throw new CliError('refused', `The GuardrailPolicy ${name} is refused (${accepted.reason}): ${accepted.message}`);
    }
    const state = valid?.message ?? accepted?.message ?? 'the operator has not processed it yet';
    if (state !== said) onState(`GuardrailPolicy ${name} is being judged: ${state}`);
    said = state;
    if (performance.now() > end) {
      throw new CliError('timeout', `The operator did not judge the GuardrailPolicy ${name} within ${seconds} s.`);
    }
    await delay(pauseMs);
  }
}
