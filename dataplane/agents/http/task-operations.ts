import { callerKey, type ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError, atStep } from '../calls/agent-error.ts';
import { listTasks } from '../tasks/list-tasks.ts';
import type { AgentServer } from './agent-server.ts';
import { answerA2a, type Exchange } from './exchange.ts';

/** GET /tasks/{id}. @throws AgentError task_not_found, also for a task of another caller */
export async function getTask(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  id: string,
): Promise<void> {
  const task = await atStep('files', () => taskOf(server, identity, id));
  answerA2a(exchange, 200, task);
}

/** GET /tasks. @throws AgentError invalid_request */
export async function getTasks({ tasks }: AgentServer, exchange: Exchange, identity: ExecutionIdentity): Promise<void> {
  const page = await atStep('files', () => listTasks(tasks.list(callerKey(identity)), exchange.url.searchParams));
  answerA2a(exchange, 200, page);
}

/** POST /tasks/{id}:cancel: tasks cannot be cancelled and stay unchanged (`agents:task:cancel`). @throws AgentError */
export function cancelTask(server: AgentServer, _: Exchange, identity: ExecutionIdentity, id: string): Promise<never> {
  return atStep('files', (): never => {
    taskOf(server, identity, id);
    throw new AgentError('UnsupportedOperationError');
  });
}

function taskOf({ tasks }: AgentServer, identity: ExecutionIdentity, id: string) {
  const task = tasks.get(callerKey(identity), id);
  if (task === undefined) throw new AgentError('task_not_found');
  return task;
}
