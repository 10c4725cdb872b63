import { readReplyRefusal } from '#contracts/a2a-reply';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { unreachableReason } from '../errors/unreachable.ts';

const exits: Readonly<Record<string, ExitName>> = {
  guardrail_denied: 'guardrail_blocked',
  guardrail_error: 'guardrail_error',
  unauthenticated: 'unauthenticated',
  not_found: 'not_found',
  run_not_found: 'not_found',
  upstream_error: 'upstream_error',
};

/** The error of a refused call, with the stable code of the agent or the gateway. */
export function agentRefusal(status: number, json: unknown): CliError {
  const { code, message } = readReplyRefusal(status, json);
  if (message === '') return new CliError('failed', `The agent answered with status ${status} and no error of A2A.`);
  return codedError(code, message);
}

/** The error of a stable code, with the exit code that belongs to it. */
export function codedError(code: string, message: string): CliError {
  return new CliError(exits[code] ?? 'failed', `${code}: ${message}`);
}

export function unreachableAgent(origin: string, cause: unknown): CliError {
  const sentence = `The agent at ${origin} does not answer: ${unreachableReason(cause, origin)}.`;
  const remedy = '"portcullis get agents" shows the address and the condition of each agent.';
  return new CliError('not_running', `${sentence} ${remedy}`, { cause });
}

/** @param seconds the timeout that was reached */
export function lateAgent(origin: string, seconds: number, cause: unknown): CliError {
  const remedy =
    'Its run may have continued. Raise --request-timeout; "portcullis status" names a process that ' +
    'does not answer.';
  const sentence = `The agent at ${origin} did not answer within ${seconds} s, the request timeout.`;
  return new CliError('timeout', `${sentence} ${remedy}`, { cause });
}

export function interruptedChat(): CliError {
  return codedError('cancelled', 'The chat was interrupted; the agent ends the run at once or within 30 s.');
}
