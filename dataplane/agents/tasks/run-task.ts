import { v7 as uuid } from 'uuid';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import { errorFacts } from '../a2a/error-body.ts';
import type { AgentMessage, Task } from '../a2a/wire.ts';
import { partsOf } from '../a2a/write-result.ts';
import { type AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import { type AgentApplication, executeCall } from '../steps/process-call.ts';
import type { TaskStore } from './task-store.ts';

type TaskParts = {
  readonly store: TaskStore;
  readonly owner: string;
  readonly contextId: string;
  readonly outputModes: readonly string[];
  /** How long a run continues while no client reads its events, milliseconds. */
  readonly unwatchedMs: number;
  /** Called once, when the run has ended. */
  readonly onEnded: () => void;
};

/**
 * Runs an admitted call as a task: submitted, working, one artifact, and a final status. The artifact is sent after
 * every check, or in parts of text each of which has passed (`agents:task-state:stream-life`). The run starts after
 * this function has returned.
 */
export function startTask(application: AgentApplication, request: ExecutionRequest, parts: TaskParts): Task {
  const { store, owner, contextId, unwatchedMs } = parts;
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const task = store.create(owner, contextId, {
    onUnwatched: () => {
      timer = setTimeout(() => controller.abort(), unwatchedMs);
    },
    onWatched: () => clearTimeout(timer),
  });
  setImmediate(() => {
    void work(application, request, parts, task, controller.signal).finally(() => {
      clearTimeout(timer);
      parts.onEnded();
    });
  });
  return task;
}

async function work(
  application: AgentApplication,
  request: ExecutionRequest,
  { store, outputModes }: TaskParts,
  { id, contextId }: Task,
  signal: AbortSignal,
): Promise<void> {
  store.setStatus(id, 'TASK_STATE_WORKING');
  try {
    const artifactId = uuid();
    const takesText = outputModes.includes('text/plain');
    const onReleased = (text: string): void => store.appendText(id, artifactId, text, false);
    const result = await executeCall(application, request, signal, takesText ? onReleased : undefined);
    const parts = await atStep('result', () => partsOf(result, outputModes));
    if (result.rest === undefined) store.addArtifact(id, { artifactId, name: 'result', parts });
    else store.appendText(id, artifactId, result.rest, true);
    store.setStatus(id, 'TASK_STATE_COMPLETED');
  } catch (thrown) {
    const error = asAgentError(thrown);
    const state = error.code === 'cancelled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED';
    store.setStatus(id, state, failureMessage(error, request.traceId, { id, contextId }));
  }
}

/** The text in the final status of a failed task: the stable code and the trace id. */
function failureMessage(
  error: AgentError,
  traceId: string,
  { id, contextId }: Pick<Task, 'id' | 'contextId'>,
): AgentMessage {
  const data = { ...errorFacts(error), message: error.message, traceId };
  return {
    messageId: uuid(),
    role: 'ROLE_AGENT',
    parts: [{ data, mediaType: 'application/json' }],
    contextId,
    taskId: id,
  };
}
