import type { z } from 'zod';
import { connectionFault } from '#kit/http/connection-fault';
import { CliError } from '../errors/cli-error.ts';
import { exchangeJson } from '../http/exchange-json.ts';
import { agentRefusal, unreachableAgent } from './agent-refusal.ts';
import type { AgentAddress } from './find-agent-address.ts';

type RunsRead = {
  readonly to: AgentAddress & { readonly isProcess: boolean };
  readonly identity: Readonly<Record<string, string>>;
  /** Id of the run whose trace is read; undefined for the list of runs. */
  readonly runId?: string;
  readonly timeoutSeconds: number;
};

/**
 * Reads the traces of an agent: those of the caller, or all traces for the owner of the agent.
 * @throws CliError not_running, timeout, not_found, unauthenticated, failed with the code of the agent
 */
export async function readRuns<S extends z.ZodType>(
  schema: S,
  { to, identity, runId, timeoutSeconds }: RunsRead,
): Promise<z.output<S>> {
  const { origin, isProcess } = to;
  // A process that is called without a gateway does not know the owner, and answers only for the caller.
  const runs = isProcess ? '/runs/own' : '/runs';
  const path = `${to.path}${runs}${runId === undefined ? '' : `/${encodeURIComponent(runId)}`}`;
  const request = { method: 'GET', path, headers: { ...identity } } as const;
  const answer = await exchangeJson(origin, request, timeoutSeconds * 1_000).catch((cause: unknown) => {
    if (connectionFault(cause) !== 'timeout') throw unreachableAgent(origin, cause);
    throw new CliError('timeout', `The agent at ${origin} did not answer within ${timeoutSeconds} s.`, { cause });
  });
  if (!answer.ok) throw agentRefusal(answer.status, answer.json);
  const read = schema.safeParse(answer.json);
  if (!read.success) throw new CliError('failed', `The agent at ${origin} gave an answer that is no trace.`);
  return read.data;
}
