import { z } from 'zod';
import { eventData } from '#kit/http/event-data';
import type { JsonValue } from '#kit/json/json-value';
import type { CliError } from '../errors/cli-error.ts';
import { codedError } from './agent-refusal.ts';
import type { AgentAnswer } from './send-message.ts';

const partSchema = z.looseObject({ text: z.string().optional(), data: z.json().optional() });
const statusSchema = z.looseObject({
  state: z.string(),
  message: z.looseObject({ parts: z.array(partSchema) }).optional(),
});
/** One event of `message:stream` (A2A 1.0): it has one of these members. */
const eventSchema = z.looseObject({
  task: z.looseObject({ id: z.string(), contextId: z.string() }).optional(),
  artifactUpdate: z.looseObject({ artifact: z.looseObject({ parts: z.array(partSchema) }) }).optional(),
  statusUpdate: z.looseObject({ status: statusSchema }).optional(),
});
const failureSchema = z.looseObject({ code: z.string(), message: z.string() });

type Part = z.output<typeof partSchema>;
type Status = z.output<typeof statusSchema>;

/** The answer as far as it arrived. It is complete only if `fault` is absent. */
export type TaskReply = AgentAnswer & { readonly taskId?: string; readonly fault?: CliError };

type Listeners = {
  /** Called once, before any text. */
  readonly onTask: (id: string) => void;
  /** Called with each piece of text, in order. */
  readonly onText: (text: string) => void;
};

/** Reads the events of one task until its final status. An early end or a broken connection is a fault. */
export async function readTaskEvents(
  bytes: AsyncIterable<Uint8Array>,
  { onTask, onText }: Listeners,
): Promise<TaskReply> {
  let reply: TaskReply = {};
  try {
    for await (const text of eventData(bytes)) {
      const { task, artifactUpdate, statusUpdate } = eventSchema.parse(JSON.parse(text));
      if (task !== undefined) {
        reply = { ...reply, taskId: task.id, contextId: task.contextId };
        onTask(task.id);
      }
      for (const part of artifactUpdate?.artifact.parts ?? []) {
        reply = withPart(reply, part);
        if (part.text !== undefined) onText(part.text);
      }
      if (statusUpdate === undefined || !finalStates.has(statusUpdate.status.state)) continue;
      const fault = faultOf(statusUpdate.status);
      return fault === undefined ? reply : { ...reply, fault };
    }
  } catch {
    return { ...reply, fault: codedError('upstream_error', 'The connection broke, or an event could not be read.') };
  }
  return { ...reply, fault: codedError('upstream_error', 'The stream ended before the task.') };
}

function withPart(reply: TaskReply, { text, data }: Part): TaskReply {
  return {
    ...reply,
    ...(text === undefined ? {} : { text: `${reply.text ?? ''}${text}` }),
    ...(data === undefined ? {} : { data: data as JsonValue }),
  };
}

const finalStates: ReadonlySet<string> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
]);

/** The failure of a task; its last message has the stable code. */
function faultOf({ state, message }: Status): CliError | undefined {
  if (state === 'TASK_STATE_COMPLETED') return undefined;
  for (const { data } of message?.parts ?? []) {
    const read = failureSchema.safeParse(data);
    if (read.success) return codedError(read.data.code, read.data.message);
  }
  return codedError(state, 'The task did not complete.');
}
