import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors/cli-error.ts';

type Answer = { readonly status: number; readonly code: string | undefined };
export type Patience = {
  /** In milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Where people read why. */
  readonly advice: string;
};

const pauseMs = 1_000;
/** What is answered until everything is there: no route, no replica that may serve, no workload. */
const early = [404, 502, 503, 504];

/**
 * Asks until there is an answer that will not change by waiting.
 * @throws CliError timeout, with the last status
 */
export async function waitForAnswer<A extends Answer>(
  what: string,
  ask: () => Promise<A>,
  { deadline, advice }: Patience,
): Promise<A> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && !early.includes(answer.status)) return answer;
    if (performance.now() > deadline) {
      const last = answer === undefined ? 'no answer' : `status ${answer.status} ${answer.code ?? ''}`.trim();
      throw new CliError('timeout', `${what}: ${last}; ${advice}`);
    }
    await delay(pauseMs);
  }
}
