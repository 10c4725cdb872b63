import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../cli-error.ts';
import type { ModelAnswer } from './ask-model.ts';

const pauseMs = 1_000;
/** What a model answers until it is applied: no route, no replica that may serve, no workload. */
const early = [404, 502, 503, 504];

/**
 * Asks until there is an answer that will not change by waiting.
 * @param deadline in milliseconds of `performance.now()`
 * @throws CliError timeout, with the last status
 */
export async function waitForAnswer(
  what: string,
  ask: () => Promise<ModelAnswer>,
  deadline: number,
): Promise<ModelAnswer> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && !early.includes(answer.status)) return answer;
    if (performance.now() > deadline) {
      const last = answer === undefined ? 'no answer' : `status ${answer.status} ${answer.code ?? ''}`.trim();
      throw new CliError('timeout', `${what}: ${last}; the conditions of the binding guarded-echo say more`);
    }
    await delay(pauseMs);
  }
}
