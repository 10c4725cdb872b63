import { z } from 'zod';
import { type Task, taskStates } from '../a2a/wire.ts';
import { AgentError } from '../calls/agent-error.ts';
import { orderOf } from './task-store.ts';

const query = z.strictObject({
  tenant: z.literal('').optional(),
  contextId: z.string().optional(),
  status: z.enum([...taskStates, 'TASK_STATE_UNSPECIFIED']).optional(),
  pageSize: z.coerce.number().int().min(1).max(100).default(50),
  pageToken: z.string().max(256).optional(),
  historyLength: z.coerce.number().int().min(0).optional(),
  statusTimestampAfter: z.iso.datetime({ offset: true }).optional(),
  includeArtifacts: z.enum(['true', 'false']).optional(),
  /** The version of the protocol, which the header names, too. */
  'A2A-Version': z.literal('1.0').optional(),
});

/** Maximum number of bytes of the tasks of one page with their artifacts. */
const pageBytes = 4_194_304;

type TaskPage = {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
};

/**
 * One page of the tasks of a caller, in their order. A page token names the last task of the previous page and grants
 * no rights.
 * @throws AgentError invalid_request
 */
export function listTasks(tasks: readonly Task[], parameters: URLSearchParams): TaskPage {
  const names = [...parameters.keys()];
  const read = query.safeParse(Object.fromEntries([...parameters].filter(([, value]) => value !== '')));
  if (!read.success || new Set(names).size < names.length) throw new AgentError('invalid_request');
  const { contextId, status, pageSize, pageToken, statusTimestampAfter, includeArtifacts } = read.data;
  const first = statusTimestampAfter === undefined ? undefined : firstMoment(statusTimestampAfter);
  const found = tasks.filter(
    (task) =>
      (contextId === undefined || task.contextId === contextId) &&
      (status === undefined || status === 'TASK_STATE_UNSPECIFIED' || task.status.state === status) &&
      (first === undefined || task.status.timestamp >= first),
  );
  const last = pageToken === undefined ? undefined : positionOf(pageToken);
  const rest = last === undefined ? found : found.filter((task) => orderOf(task) < last);
  const most = rest.slice(0, pageSize);
  const page = includeArtifacts === 'true' ? firstBytes(most) : most.map(({ artifacts: _, ...task }) => task);
  const end = page.at(-1);
  const isEnd = end === undefined || rest.length <= page.length;
  return {
    tasks: page,
    nextPageToken: isEnd ? '' : Buffer.from(orderOf(end)).toString('base64url'),
    pageSize,
    totalSize: found.length,
  };
}

/** The first millisecond that is not before a time: a task of that time is in the list, too (A2A 1.0, ListTasksRequest). */
function firstMoment(time: string): string {
  const isBetween = /\.\d{3}0*[1-9]/.test(time);
  return new Date(Date.parse(time) + (isBetween ? 1 : 0)).toISOString();
}

/** The first tasks that have at most `pageBytes` together, and at least one. */
function firstBytes(tasks: readonly Task[]): readonly Task[] {
  let bytes = 0;
  const end = tasks.findIndex((task) => {
    bytes += Buffer.byteLength(JSON.stringify(task));
    return bytes > pageBytes;
  });
  return end < 0 ? tasks : tasks.slice(0, Math.max(1, end));
}

function positionOf(token: string): string {
  const position = Buffer.from(token, 'base64url').toString('utf8');
  if (!/^\d{4}-[\d:.TZ-]+ [0-9a-f-]{36}$/.test(position)) throw new AgentError('invalid_request');
  return position;
}
