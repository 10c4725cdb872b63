import { randomUUID } from 'node:crypto';
import { isReplyEnd, readReply } from '#contracts/a2a-reply';
import { connectionFault } from '#kit/http/connection-fault';
import type { JsonValue } from '#kit/json/json-value';
import { CliError } from '../errors/cli-error.ts';
import { exchangeJson } from '../http/exchange-json.ts';
import { agentRefusal, interruptedChat, lateAgent, unreachableAgent } from './agent-refusal.ts';
import { type AgentReply, withPart } from './collect-reply.ts';
import type { AgentAddress } from './find-agent-address.ts';

type Sent = {
  readonly to: AgentAddress;
  readonly identity: Readonly<Record<string, string>>;
  readonly text: string | undefined;
  readonly data: JsonValue | undefined;
  /** The context of an earlier answer; a new context when absent. */
  readonly contextId?: string | undefined;
  /** The task that requested this message. */
  readonly taskId?: string | undefined;
  /** Longest wait for the answer in seconds. */
  readonly timeoutSeconds: number;
  /** Aborting this signal ends the call, and with it the run. */
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
  taskId,
  timeoutSeconds,
  signal,
}: Sent): Promise<AgentReply> {
  const parts = [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])];
  const body = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts, contextId, taskId } };
  const headers = { 'a2a-version': '1.0', ...identity };
  const { origin } = to;
  const request = { method: 'POST', path: `${to.path}/message:send`, body, headers, signal } as const;
  const answer = await exchangeJson(origin, request, timeoutSeconds * 1_000).catch((cause: unknown) => {
    if (signal?.aborted === true) throw interruptedChat();
    if (connectionFault(cause) === 'timeout') throw lateAgent(origin, timeoutSeconds, cause);
    throw unreachableAgent(origin, cause);
  });
  if (!answer.ok) throw agentRefusal(answer.status, answer.json);
  const reply = wholeReply(answer.json);
  if (reply === undefined)
    throw new CliError('failed', `The agent at ${origin} gave an answer that is not a message of A2A.`);
  const { fault, ...complete } = reply;
  if (fault !== undefined) throw fault;
  return complete;
}

/** The reply in the body of an answer; undefined if the body is not a reply of A2A or has no end. */
function wholeReply(json: unknown): AgentReply | undefined {
  try {
    const parts = readReply(json);
    return parts.some(isReplyEnd) ? parts.reduce<AgentReply>(withPart, {}) : undefined;
  } catch {
    return undefined;
  }
}
