import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { connectionFault } from '#kit/http/connection-fault';
import type { JsonValue } from '#kit/json/json-value';
import { CliError } from '../errors/cli-error.ts';
import type { ExitName } from '../errors/exit-codes.ts';
import { unreachableReason } from '../errors/unreachable.ts';
import { exchangeJson } from '../http/exchange-json.ts';
import type { AgentAddress } from './find-agent-address.ts';

const partSchema = z.looseObject({ text: z.string().optional(), data: z.json().optional() });
const answerSchema = z.looseObject({ message: z.looseObject({ parts: z.array(partSchema) }) });
const errorSchema = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    details: z.array(z.looseObject({ domain: z.string().optional(), reason: z.string().optional() })),
  }),
});

type AgentAnswer = { readonly text?: string; readonly data?: JsonValue };

type Sent = {
  readonly to: AgentAddress;
  readonly identity: Readonly<Record<string, string>>;
  readonly text: string | undefined;
  readonly data: JsonValue | undefined;
  /** Longest wait for the answer in seconds. */
  readonly timeoutSeconds: number;
};

/**
 * Sends one message to an agent and waits for its answer (A2A 1.0, `POST /message:send`).
 * @throws CliError not_running, timeout, guardrail_blocked, guardrail_error, unauthenticated, failed with the code of the agent
 */
export async function sendAgentMessage({ to, identity, text, data, timeoutSeconds }: Sent): Promise<AgentAnswer> {
  const parts = [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])];
  const body = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts } };
  const headers = { 'a2a-version': '1.0', ...identity };
  const { origin } = to;
  const request = { method: 'POST', path: `${to.path}/message:send`, body, headers } as const;
  const answer = await exchangeJson(origin, request, timeoutSeconds * 1_000).catch((cause: unknown) => {
    if (connectionFault(cause) === 'timeout') throw lateError(origin, timeoutSeconds, cause);
    const sentence = `The agent at ${origin} does not answer: ${unreachableReason(cause, origin)}.`;
    const remedy = '"portcullis get agents" shows the address and the condition of each agent.';
    throw new CliError('not_running', `${sentence} ${remedy}`, { cause });
  });
  if (!answer.ok) throw refusalOf(answer.status, answer.json);
  const read = answerSchema.safeParse(answer.json);
  if (!read.success)
    throw new CliError('failed', `The agent at ${origin} gave an answer that is not a message of A2A.`);
  const found = read.data.message.parts;
  const answered = found.find((part) => part.text !== undefined)?.text;
  const given = found.find((part) => part.data !== undefined)?.data;
  return {
    ...(answered === undefined ? {} : { text: answered }),
    ...(given === undefined ? {} : { data: given as JsonValue }),
  };
}

function lateError(origin: string, seconds: number, cause: unknown): CliError {
  const remedy =
    'Its run may have continued. Give more seconds with --request-timeout; "portcullis status" names a process that ' +
    'does not answer.';
  const sentence = `The agent at ${origin} did not answer within ${seconds} s, the request timeout.`;
  return new CliError('timeout', `${sentence} ${remedy}`, { cause });
}

const exits: Readonly<Record<string, ExitName>> = {
  guardrail_denied: 'guardrail_blocked',
  guardrail_error: 'guardrail_error',
  unauthenticated: 'unauthenticated',
  not_found: 'not_found',
};

function refusalOf(status: number, json: unknown): CliError {
  const read = errorSchema.safeParse(json);
  if (!read.success) return new CliError('failed', `The agent answered with status ${status} and no error of A2A.`);
  const { message, details } = read.data.error;
  const code = details.find(({ domain }) => domain === 'portcullis')?.reason ?? String(status);
  return new CliError(exits[code] ?? 'failed', `${code}: ${message}`);
}
