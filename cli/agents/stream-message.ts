import { randomUUID } from 'node:crypto';
import { saysNoStreams } from '#contracts/a2a-reply';
import { exchangeJson } from '../http/exchange-json.ts';
import { patientFetch } from '../http/patient-fetch.ts';
import { agentRefusal, interruptedChat, lateAgent, unreachableAgent } from './agent-refusal.ts';
import type { AgentReply } from './collect-reply.ts';
import type { AgentAddress } from './find-agent-address.ts';
import { readTaskEvents } from './read-task-events.ts';

type Streamed = {
  readonly to: AgentAddress;
  readonly identity: Readonly<Record<string, string>>;
  readonly text: string;
  /** The context of an earlier answer; a new context when absent. */
  readonly contextId: string | undefined;
  /** The task that requested this message. */
  readonly taskId?: string | undefined;
  /** Longest time in seconds without an event. */
  readonly timeoutSeconds: number;
  /** Aborting this signal cancels the task. */
  readonly signal: AbortSignal;
  readonly onText: (text: string) => void;
};

const cancelMs = 2_000;

/**
 * Sends one message and reads the events of its task (A2A 1.0, `POST /message:stream`).
 * @returns the answer, or undefined if the agent does not stream
 * @throws CliError not_running, timeout or a refusal before the task began
 */
export async function streamAgentMessage(streamed: Streamed): Promise<AgentReply | undefined> {
  const { to, text, contextId, taskId: askedBy, timeoutSeconds, onText } = streamed;
  const ms = timeoutSeconds * 1_000;
  const headers = { 'a2a-version': '1.0', ...streamed.identity };
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], contextId, taskId: askedBy };
  const request = {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ message }),
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ms);
  const signal = AbortSignal.any([late.signal, streamed.signal]);
  let taskId: string | undefined;
  const onTask = (id: string): void => {
    taskId = id;
  };
  try {
    const answer = await patientFetch(`${to.origin}${to.path}/message:stream`, { ...request, signal }, ms);
    if (answer.ok && answer.body !== null) {
      const reply = await readTaskEvents(refreshing(answer.body, timer), { onTask, onText });
      if (!signal.aborted || reply.fault === undefined) return reply;
      const fault = streamed.signal.aborted ? interruptedChat() : lateAgent(to.origin, timeoutSeconds, undefined);
      return { ...reply, fault };
    }
    const json: unknown = await answer.json().catch(() => undefined);
    if (saysNoStreams(answer.status, json)) return undefined;
    throw agentRefusal(answer.status, json);
  } catch (cause) {
    if (streamed.signal.aborted) throw interruptedChat();
    if (late.signal.aborted) throw lateAgent(to.origin, timeoutSeconds, cause);
    if (cause instanceof TypeError) throw unreachableAgent(to.origin, cause);
    throw cause;
  } finally {
    clearTimeout(timer);
    if (signal.aborted && taskId !== undefined) await cancelTask(to, headers, taskId);
  }
}

/**
 * Requests the end of a task. An agent may refuse it, as an agent with a flow does: its task then ends 30 s after its
 * last reader has left. In both cases the command has already closed its stream.
 */
async function cancelTask(to: AgentAddress, headers: Readonly<Record<string, string>>, id: string): Promise<void> {
  const path = `${to.path}/tasks/${encodeURIComponent(id)}:cancel`;
  await exchangeJson(to.origin, { method: 'POST', path, headers, body: {} }, cancelMs).catch(() => undefined);
}

async function* refreshing(body: AsyncIterable<Uint8Array>, timer: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    timer.refresh();
    yield part;
  }
}
