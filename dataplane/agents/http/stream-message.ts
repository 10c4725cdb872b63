import { a2aErrorBody } from '../a2a/error-body.ts';
import { readCallMessage } from '../a2a/read-call-message.ts';
import type { StreamEvent, Task } from '../a2a/wire.ts';
import { callerKey, type ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError, atStep } from '../calls/agent-error.ts';
import { admitCall } from '../steps/process-call.ts';
import { startTask } from '../tasks/run-task.ts';
import type { AgentServer } from './agent-server.ts';
import { answerHeaders, type Exchange, readJsonBytes, watchDeparture } from './exchange.ts';
import { refuseContinuation } from './send-message.ts';
import type { StreamReader } from './stream-readers.ts';

/**
 * POST /message:stream: a refusal in steps two to five is an HTTP error. After these steps a task begins and its events
 * follow (`agents:message-stream:first-task`).
 * @throws AgentError
 */
export async function streamMessage(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  body: Buffer,
): Promise<void> {
  const { agent, application, slots, readers, tasks: store, unwatchedMs } = server;
  const { message, release } = await atStep('files', () => {
    requireStreaming(server);
    const read = readCallMessage(agent, readJsonBytes(body));
    refuseContinuation(server, identity, read.taskId);
    return { message: read, release: slots.take() };
  });
  let isOwned = false;
  try {
    const reader = await atStep('files', () => readers.open(exchange.outgoing));
    const signal = watchDeparture(exchange);
    const { call, outputModes } = message;
    const facts = { operation: 'message:stream', trace: exchange.trace, signal } as const;
    const request = await admitCall(application, call, identity, facts);
    const owner = callerKey(identity);
    const task = startTask(application, request, {
      store,
      owner,
      contextId: call.session,
      outputModes,
      unwatchedMs,
      onEnded: release,
    });
    isOwned = true;
    relayEvents(server, exchange, reader, { owner, id: task.id });
  } finally {
    if (!isOwned) release();
  }
}

/** POST or GET /tasks/{id}:subscribe: the current task, then its later events. @throws AgentError */
export function subscribeToTask(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  id: string,
): Promise<void> {
  return atStep('files', () => {
    requireStreaming(server);
    const owner = callerKey(identity);
    if (server.tasks.get(owner, id) === undefined) throw new AgentError('task_not_found');
    relayEvents(server, exchange, server.readers.open(exchange.outgoing), { owner, id });
  });
}

/** @throws AgentError UnsupportedOperationError */
function requireStreaming({ profiles }: AgentServer): void {
  if (!profiles.streaming) throw new AgentError('UnsupportedOperationError');
}

/** The bytes of each event and of each snapshot of a task, which all readers of the task share. */
const frames = new WeakMap<StreamEvent | Task, Buffer>();

function frameOf(event: StreamEvent): Buffer {
  const key = 'task' in event ? event.task : event;
  const known = frames.get(key);
  if (known !== undefined) return known;
  const frame = Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  frames.set(key, frame);
  return frame;
}

/**
 * Sends the events of a task as they occur, and ends with its final status. A reader that leaves too many bytes unread
 * gets an error, and its connection is closed, so that no proxy regards the stream as complete. That reader stays
 * subscribed without further events until the task ends: the run continues, because the error tells the client to read
 * the task. Between events a comment keeps the connection open, because clients and proxies close a connection that is
 * silent for some minutes.
 * @throws AgentError if the task has ended
 */
function relayEvents(
  { tasks, unwatchedMs }: AgentServer,
  exchange: Exchange,
  reader: StreamReader,
  { owner, id }: { readonly owner: string; readonly id: string },
): void {
  const { outgoing, trace } = exchange;
  let beat: NodeJS.Timeout | undefined;
  const open = (): void => {
    if (outgoing.headersSent) return;
    outgoing.writeHead(200, {
      ...answerHeaders(exchange),
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    beat = setInterval(() => outgoing.write(': the task is in progress\n\n'), unwatchedMs / 2);
  };
  let leave: (() => void) | undefined;
  let isCut = false;
  const depart = (): void => {
    clearInterval(beat);
    if (!isCut) leave?.();
  };
  leave = tasks.subscribe(owner, id, {
    event(event: StreamEvent) {
      if (isCut) return;
      open();
      if (reader.send(frameOf(event))) return;
      isCut = true;
      clearInterval(beat);
      const body = a2aErrorBody(new AgentError('stream_unread'), trace.traceId);
      outgoing.write(`event: error\ndata: ${JSON.stringify(body)}\n\n`, () => outgoing.destroy());
    },
    ended() {
      clearInterval(beat);
      if (!isCut) outgoing.end();
    },
  });
  if (leave === undefined) throw new AgentError('UnsupportedOperationError');
  if (outgoing.destroyed) depart();
  else outgoing.once('close', depart);
}
