import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors/cli-error.ts';

type Answer = { readonly status: number; readonly code: string | undefined };
type WaitOptions = {
  /** The deadline, in milliseconds of `performance.now()`. */
  readonly deadline: number;
  /** Where a user can read the cause of the failure; part of the error message. */
  readonly advice: string;
};

const pauseMs = 1_000;
/** Statuses while routes, replicas or workloads are missing. */
const early = [404, 502, 503, 504];

/** Repeats a request until its status can no longer change. @throws CliError timeout, with the last status */
export async function waitForAnswer<A extends Answer>(
  what: string,
  ask: () => Promise<A>,
  { deadline, advice }: WaitOptions,
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
