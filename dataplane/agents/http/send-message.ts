import { v7 as uuid } from 'uuid';
import { noUsage } from '#contracts/run-usage';
import { readCallMessage } from '../a2a/read-call-message.ts';
import { partsOf } from '../a2a/write-result.ts';
import { callerKey, type ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError, atStep } from '../calls/agent-error.ts';
import { admitCall, executeCall } from '../steps/process-call.ts';
import type { AgentServer } from './agent-server.ts';
import { answerA2a, type Exchange, noteUsage, readJsonBytes, watchDeparture } from './exchange.ts';

/** POST /message:send: runs the flow and answers with a final Message (`agents:message-send:text`). @throws AgentError */
export async function sendMessage(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  body: Buffer,
): Promise<void> {
  const { agent, application, slots } = server;
  const { message, release } = await atStep('files', () => {
    const read = readCallMessage(agent, readJsonBytes(body));
    refuseContinuation(server, identity, read.taskId);
    return { message: read, release: slots.take() };
  });
  try {
    const signal = watchDeparture(exchange);
    const facts = { operation: 'message:send', trace: exchange.trace, signal } as const;
    const request = await admitCall(application, message.call, identity, facts);
    const note = (): void => noteUsage(exchange, request.meter?.used() ?? noUsage);
    const result = await executeCall(application, request, signal).finally(note);
    const parts = await atStep('result', () => partsOf(result, message.outputModes));
    answerA2a(exchange, 200, {
      message: { messageId: uuid(), role: 'ROLE_AGENT', parts, contextId: message.call.session },
    });
  } finally {
    release();
  }
}

/** No task of this agent accepts a second message. @throws AgentError task_not_found, UnsupportedOperationError */
export function refuseContinuation(
  { tasks }: AgentServer,
  identity: ExecutionIdentity,
  taskId: string | undefined,
): void {
  if (taskId === undefined) return;
  const found = tasks.get(callerKey(identity), taskId);
  throw new AgentError(found === undefined ? 'task_not_found' : 'UnsupportedOperationError');
}
