import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { connectionFault } from '#kit/http/connection-fault';
import type { JsonValue } from '#kit/json/json-value';
import { CliError } from '../errors/cli-error.ts';
import { exchangeJson } from '../http/exchange-json.ts';
import { agentRefusal, interruptedChat, lateAgent, unreachableAgent } from './agent-refusal.ts';
import type { AgentAddress } from './find-agent-address.ts';

const partSchema = z.looseObject({ text: z.string().optional(), data: z.json().optional() });
const answerSchema = z.looseObject({
  message: z.looseObject({ parts: z.array(partSchema), contextId: z.string().optional() }),
});
/** The answer of an agent; calls with its context continue the conversation. */
export type AgentAnswer = { readonly text?: string; readonly data?: JsonValue; readonly contextId?: string };

type Sent = {
  readonly to: AgentAddress;
  readonly identity: Readonly<Record<string, string>>;
  readonly text: string | undefined;
  readonly data: JsonValue | undefined;
  /** Context of an earlier answer; a new one when absent. */
  readonly contextId?: string | undefined;
  /** Longest wait for the answer in seconds. */
  readonly timeoutSeconds: number;
  /** Its abort ends the call, and with it the run. */
  readonly signal?: AbortSignal;
};

/**
 * Sends one message to an agent and waits for its answer (A2A 1.0, `POST /message:send`).
 * @throws CliError not_running, timeout, guardrail_blocked, guardrail_error, unauthenticated, failed with the code of the agent
 */
export async function sendAgentMessage({
  to,
  identity,
  text,
  data,
  contextId,
  timeoutSeconds,
  signal,
}: Sent): Promise<AgentAnswer> {
  const parts = [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])];
  const body = {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...(contextId === undefined ? {} : { contextId }) },
  };
  const headers = { 'a2a-version': '1.0', ...identity };
  const { origin } = to;
  const request = { method: 'POST', path: `${to.path}/message:send`, body, headers, signal } as const;
  const answer = await exchangeJson(origin, request, timeoutSeconds * 1_000).catch((cause: unknown) => {
    if (signal?.aborted === true) throw interruptedChat();
    if (connectionFault(cause) === 'timeout') throw lateAgent(origin, timeoutSeconds, cause);
    throw unreachableAgent(origin, cause);
  });
  if (!answer.ok) throw agentRefusal(answer.status, answer.json);
  const read = answerSchema.safeParse(answer.json);
  if (!read.success)
    throw new CliError('failed', `The agent at ${origin} gave an answer that is not a message of A2A.`);
  const { parts: found, contextId: context } = read.data.message;
  const answered = found.find((part) => part.text !== undefined)?.text;
  const given = found.find((part) => part.data !== undefined)?.data;
  return {
    ...(answered === undefined ? {} : { text: answered }),
    ...(given === undefined ? {} : { data: given as JsonValue }),
    ...(context === undefined ? {} : { contextId: context }),
  };
}
