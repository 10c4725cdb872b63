import { setTimeout as pause } from 'node:timers/promises';
import { until } from '#kit/testing/until';
import { messageOf } from '../../dataplane/agents/testing/start-agent.ts';
import { postOnce, type Reader } from './read-streams.ts';

type Call = {
  /** The address of the agent at the gateway. */
  readonly url: string;
  readonly token: () => Promise<string>;
  readonly reader: Reader;
  /** Time between two reads of a slow client, milliseconds. */
  readonly everyMs: number;
};

/** An event that contains the state of its task. */
type Shown = {
  readonly task?: { readonly id: string; readonly status: Status };
  readonly statusUpdate?: { readonly taskId: string; readonly status: Status };
  readonly artifactUpdate?: { readonly taskId: string };
};
type Status = {
  readonly state: string;
  readonly message?: { readonly parts: readonly { readonly data?: { readonly code?: string } }[] };
};

/** Events after which a client disconnects. */
const vanishesAfter = 5;
/**
 * States in which the run of a client that left may end: with its result, or because no client has read it for too
 * long.
 */
const endsOfLeft = ['TASK_STATE_COMPLETED', 'TASK_STATE_CANCELED'];
const finalStates = [...endsOfLeft, 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'];

/**
 * Reads one stream of a real agent on its own connection. A client that disconnects then waits for the end of its task.
 * @returns the fault of the stream, with the code of a failed run; undefined if there is no fault. Never rejects.
 */
export async function readAgentStream(call: Call): Promise<string | undefined> {
  try {
    const { statuses, tasks, isCut } = await readEvents(call);
    if (tasks.size !== 1) return `${tasks.size} tasks in one stream`;
    const [task = ''] = tasks;
    if (isCut) return faultOf(await endOfTask(call, task), endsOfLeft);
    const finals = statuses.filter(({ state }) => finalStates.includes(state));
    if (finals.length !== 1) return `${finals.length} ends of one task`;
    return faultOf(finals[0], ['TASK_STATE_COMPLETED']);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function readEvents({ url, token, reader, everyMs }: Call) {
  const body = messageOf({ text: 'hello' });
  const answer = await postOnce({ url: `${url}/message:stream`, token: await token(), body });
  try {
    const [statuses, tasks] = [[] as Status[], new Set<string>()];
    let [rest, events, isCut] = ['', 0, false];
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
    for await (const chunk of answer) {
      const parts = `${rest}${String(chunk)}`.split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts.filter((one) => !one.startsWith(':'))) {
        if (!part.startsWith('data: ')) throw new Error(`an event of the gateway: ${part}`);
        const { task, statusUpdate, artifactUpdate } = JSON.parse(part.slice('data: '.length)) as Shown;
        const status = task?.status ?? statusUpdate?.status;
        if (status !== undefined) statuses.push(status);
        tasks.add(task?.id ?? statusUpdate?.taskId ?? artifactUpdate?.taskId ?? '');
        events += 1;
      }
      isCut = reader === 'vanishing' && events >= vanishesAfter;
      if (isCut) break;
      if (reader === 'slow') await pause(everyMs);
    }
    return { statuses, tasks, isCut };
  } finally {
    answer.destroy();
  }
}

/** The last status of a task that no stream shows. */
async function endOfTask({ url, token }: Call, task: string): Promise<Status> {
  const readEnd = async (): Promise<Status | undefined> => {
    const headers = { 'a2a-version': '1.0', authorization: `Bearer ${await token()}` };
    const answer = await fetch(`${url}/tasks/${task}`, { headers });
    const { status } = (await answer.json()) as { readonly status: Status };
    return finalStates.includes(status.state) ? status : undefined;
  };
  return await until('the task has ended', readEnd, { everyMs: 500 });
}

function faultOf(status: Status | undefined, expected: readonly string[]): string | undefined {
  const { state = 'no end', message } = status ?? {};
  if (expected.includes(state)) return undefined;
  return `${state} ${message?.parts[0]?.data?.code ?? ''}`.trimEnd();
}
