import { v7 as uuid } from 'uuid';
import { z } from 'zod';
import type { AgentErrorCode } from '#contracts/agent-errors';
import type { AgentGatewayErrorCode } from '#contracts/agent-gateway-errors';
import { calledVersionHeader, readCalledVersion } from '#contracts/called-version';
import { noUsage, readRunUsage, runUsageHeader } from '#contracts/run-usage';
import type { JsonValue } from '#kit/json/json-value';
import { wait } from '#kit/time/wait';
import { PortError } from '../engine/flow-error.ts';
import type { FlowPorts, PortCall } from '../engine/ports.ts';
import { type CallerService, readServiceAnswer } from './caller-service.ts';
import { exchangeWithService } from './exchange-with-service.ts';
import { traceHeaders } from './trace-headers.ts';

const part = z.union([z.object({ text: z.string() }), z.object({ data: z.json() })]);
const parts = z.array(part).max(1_000);
const taskSchema = z.object({
  id: z.string().regex(/^[A-Za-z0-9._~-]{1,128}$/),
  status: z.object({ state: z.string() }),
  artifacts: z.array(z.object({ parts })).max(1_000).optional(),
});
type Task = z.infer<typeof taskSchema>;
const answerSchema = z.union([z.object({ message: z.object({ parts }) }), z.object({ task: taskSchema })]);
const refusalSchema = z.object({
  error: z.object({ details: z.array(z.object({ metadata: z.object({ code: z.string() }) })).min(1) }),
});

/** The meanings of the error codes of the called agent and of the gateway; for any other refusal the status decides. */
const refusals: ReadonlyMap<string, PortError['code']> = new Map<
  AgentErrorCode | AgentGatewayErrorCode,
  PortError['code']
>([
  ['guardrail_denied', 'guardrail_denied'],
  ['output_invalid', 'answer_invalid'],
  ['answer_refused', 'answer_invalid'],
  ['flow_failed', 'refused'],
  ['budget_exceeded', 'refused'],
  ['deadline_exceeded', 'refused'],
  ['internal', 'refused'],
]);

/** Time between two reads of the task of the called agent, milliseconds. */
const pollMs = 500;
/** Longest duration of the request that cancels a task which the run leaves, milliseconds. */
const cancelMs = 5_000;
/** Number of consecutive reads of a task that may fail: a replica of the gateway may end, and the run continues. */
const mostFailedReads = 5;

/** Errors of a read of a task that do not depend on the task. */
const passing: ReadonlySet<PortError['code']> = new Set(['unavailable', 'rate_limited']);

type AgentPortOptions = {
  /** Address of the agent gateway. */
  readonly url: URL;
  /** Headers that identify a run to the agent that its flow names. */
  readonly identity: (agentId: string) => CallerService['identity'];
};

/**
 * Calls another agent through the gateway with A2A 1.0. A task is read until it ends, at most until the deadline of the
 * run. A flow cannot answer a question of the called agent, so that `input_required` and `auth_required` end the call.
 * A task that has not ended when the call ends is cancelled, because the run no longer reads its answer; the call does
 * not wait for the cancellation. An error counts as having no effect if it is known that the call has started no run.
 */
export function createAgentPort({ url, identity }: AgentPortOptions): FlowPorts['agent'] {
  return async ({ agentId, version, text, data }, call) => {
    const identify = identity(agentId);
    const prefix = `${url.href.replace(/\/+$/, '')}/agents/${encodeURIComponent(agentId)}`;
    const baseOf = (of: string | undefined): string =>
      of === undefined ? prefix : `${prefix}/versions/${encodeURIComponent(of)}`;
    let base = baseOf(version);
    const { share } = call;
    let isSent = false;
    let startedNoRun = false;
    let known: Readonly<Record<string, string>> = {};
    const onHeaders = (headers: Readonly<Record<string, string | string[] | undefined>>): void => {
      // The task is read from the version that has it: the gateway may choose another one for a later request.
      base = baseOf(version ?? readCalledVersion(headers[calledVersionHeader]));
      const used = readRunUsage(headers[runUsageHeader]);
      if (used === undefined) return;
      startedNoRun = used.nodes === 0;
      share?.report(used);
    };
    const exchange = async (path: string, body?: object): Promise<unknown> => {
      known = await identify(call);
      const headers = { ...traceHeaders(call), 'a2a-version': '1.0', ...known };
      isSent = true;
      return await exchangeWithService({
        url: new URL(`${base}${path}`),
        headers,
        // Only the answer to the message reports the usage of the run.
        ...(body === undefined ? {} : { body, onHeaders }),
        signal: call.signal,
        errorOf({ value }) {
          const refusal = refusalSchema.safeParse(value);
          const code = refusal.data?.error.details[0]?.metadata.code;
          return code === undefined ? undefined : refusals.get(code);
        },
      });
    };
    const send = async (message: object): Promise<unknown> => {
      try {
        return await exchange('/message:send', { message });
      } catch (error) {
        if (!(error instanceof PortError)) throw error;
        if (isSent && !startedNoRun && !error.hadNoEffect) throw error;
        share?.report(noUsage);
        throw new PortError(error.code, { hadNoEffect: true });
      }
    };
    /**
     * The cancellation uses the identity of the last read: the run may have ended, and then it gets no other identity.
     */
    const cancel = async (taskId: string): Promise<void> => {
      const headers = { ...traceHeaders(call), 'a2a-version': '1.0', ...known };
      const url = new URL(`${base}/tasks/${taskId}:cancel`);
      try {
        await exchangeWithService({ url, headers, body: {}, signal: AbortSignal.timeout(cancelMs) });
      } catch {
        // A called agent that cannot cancel its task will end it later.
      }
    };
    const { sessionId } = call.context;
    const message = {
      messageId: uuid(),
      role: 'ROLE_USER',
      ...(typeof sessionId === 'string' ? { contextId: sessionId } : {}),
      parts: [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])],
    };
    const answer = readServiceAnswer(answerSchema, await send(message));
    if ('message' in answer) return resultOf(answer.message.parts);
    let { task } = answer;
    try {
      while (!isEnded(task.status.state)) task = await readTask(() => exchange(`/tasks/${task.id}`), call);
    } catch (error) {
      if (openStates.has(task.status.state)) void cancel(task.id);
      throw error;
    }
    return resultOf((task.artifacts ?? []).flatMap((artifact) => artifact.parts));
  };
}

/** The next state of a task. @throws PortError */
async function readTask(read: () => Promise<unknown>, { signal }: PortCall): Promise<Task> {
  for (let failed = 0; ; failed += 1) {
    await wait(pollMs, signal);
    signal.throwIfAborted();
    try {
      return readServiceAnswer(taskSchema, await read());
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // The run of the task has begun, whatever became of this read.
      if (!passing.has(error.code) || failed >= mostFailedReads) throw new PortError(error.code);
    }
  }
}

/** States of tasks that have not ended. */
const openStates: ReadonlySet<string> = new Set([
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]);

/** @throws PortError if the task ended without a result */
function isEnded(state: string): boolean {
  switch (state) {
    case 'TASK_STATE_COMPLETED':
      return true;
    case 'TASK_STATE_SUBMITTED':
    case 'TASK_STATE_WORKING':
      return false;
    case 'TASK_STATE_INPUT_REQUIRED':
      throw new PortError('input_required');
    case 'TASK_STATE_AUTH_REQUIRED':
      throw new PortError('auth_required');
    default:
      throw new PortError('refused');
  }
}

function resultOf(found: z.infer<typeof parts>): { readonly text?: string; readonly data?: JsonValue } {
  const texts = found.flatMap((one) => ('text' in one ? [one.text] : []));
  const data = found.flatMap((one) => ('data' in one ? [one.data as JsonValue] : []));
  if (data.length > 1) throw new PortError('answer_invalid');
  return {
    ...(texts.length === 0 ? {} : { text: texts.join('\n') }),
    ...(data[0] === undefined ? {} : { data: data[0] }),
  };
}
