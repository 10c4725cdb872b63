import { v7 as uuid } from 'uuid';
import type { Clock } from '#kit/time/clock';
import type { StreamEvent, Task, TaskState } from '../a2a/wire.ts';
import { AgentError } from '../calls/agent-error.ts';

/** Number of ended tasks and of their bytes as JSON. */
type EndedTasks = { tasks: number; bytes: number };

/** Receives the events of one task in order; no call follows the last event. */
type TaskListener = { event(event: StreamEvent): void; ended(): void };

type Entry = {
  readonly owner: string;
  task: Task;
  readonly listeners: Set<TaskListener>;
  bytes: number;
  /** Called when the last listener leaves a task that has not ended. */
  readonly onUnwatched: () => void;
  /** Called when a listener arrives. */
  readonly onWatched: () => void;
};

const finalStates: ReadonlySet<TaskState> = new Set([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

function isFinal({ status }: Pick<Task, 'status'>): boolean {
  return finalStates.has(status.state);
}

/**
 * Limits of the ended tasks that are kept for reading, and of the streams that read one task at the same time. Above
 * the first two limits, the oldest task of the caller with the most tasks, or with the most bytes of tasks, is removed
 * first.
 */
export const taskLimits = { kept: 1_000, keptBytes: 64 * 1_048_576, readers: 16 } as const;

/**
 * Tasks of this process, each visible to its caller only (`agents:task:get-snapshot`, `agents:limit:task-scope`). All
 * tasks are lost when the process ends. The number of tasks in progress is limited by the runs of the version, the
 * number of ended tasks by `taskLimits`.
 */
export class TaskStore {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #limits: { readonly kept: number; readonly keptBytes: number };
  /** The number and the bytes of the ended tasks: of all callers together, and of each caller. */
  readonly #ended: EndedTasks = { tasks: 0, bytes: 0 };
  readonly #endedOf = new Map<string, EndedTasks>();

  constructor(clock: Clock, limits: { readonly kept: number; readonly keptBytes: number } = taskLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  create(owner: string, contextId: string, watch: Pick<Entry, 'onUnwatched' | 'onWatched'>): Task {
    const task: Task = { id: uuid(), contextId, status: this.#status('TASK_STATE_SUBMITTED') };
    this.#entries.set(task.id, { owner, task, listeners: new Set(), bytes: 0, ...watch });
    return task;
  }

  /** The current snapshot of a task; undefined if the task does not exist or belongs to another caller. */
  get(owner: string, id: string): Task | undefined {
    return this.#find(owner, id)?.task;
  }

  /** Snapshots of the tasks of the caller; the task whose status changed last is first. */
  list(owner: string): readonly Task[] {
    const own = [...this.#entries.values()].filter((entry) => entry.owner === owner).map(({ task }) => task);
    return own.toSorted((one, other) => compare(orderOf(other), orderOf(one)));
  }

  /**
   * Sends the current task immediately, then every later event (`agents:task:subscribe`).
   * @returns a function that ends the subscription; undefined if the caller has no such task, or the task has ended
   * @throws AgentError too_many_runs if the task has as many readers as it may have
   */
  subscribe(owner: string, id: string, listener: TaskListener): (() => void) | undefined {
    const entry = this.#find(owner, id);
    if (entry === undefined || isFinal(entry.task)) return undefined;
    if (entry.listeners.size >= taskLimits.readers) throw new AgentError('too_many_runs');
    listener.event({ task: entry.task });
    entry.listeners.add(listener);
    entry.onWatched();
    return () => {
      const left = entry.listeners.delete(listener);
      if (left && entry.listeners.size === 0 && !isFinal(entry.task)) entry.onUnwatched();
    };
  }

  setStatus(id: string, state: TaskState, message?: Task['status']['message']): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || isFinal(entry.task)) return;
    const { id: taskId, contextId } = entry.task;
    const status = { ...this.#status(state), ...(message === undefined ? {} : { message }) };
    // A task that ends without its result keeps no part of it (`agents:error:no-partial-success`).
    const { artifacts, ...rest } = entry.task;
    const isLost = finalStates.has(state) && state !== 'TASK_STATE_COMPLETED';
    const kept = artifacts === undefined || isLost ? {} : { artifacts };
    entry.task = { ...rest, ...kept, status };
    this.#send(entry, { statusUpdate: { taskId, contextId, status } });
    if (!isFinal(entry.task)) return;
    for (const listener of entry.listeners) listener.ended();
    entry.listeners.clear();
    this.#keepEnded(id, entry);
  }

  addArtifact(id: string, artifact: NonNullable<Task['artifacts']>[number]): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || isFinal(entry.task)) return;
    const { id: taskId, contextId, artifacts = [] } = entry.task;
    entry.task = { ...entry.task, artifacts: [...artifacts, artifact] };
    this.#send(entry, { artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true } });
  }

  /**
   * Adds text to an artifact, which is created if it does not exist. In the snapshot of the task, all text up to now is
   * one part.
   * @param isLast whether the artifact is complete
   */
  appendText(id: string, artifactId: string, text: string, isLast: boolean): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || isFinal(entry.task)) return;
    const { id: taskId, contextId, artifacts = [] } = entry.task;
    const before = artifacts.find((one) => one.artifactId === artifactId);
    const written = before?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? '';
    const artifactOf = (content: string) => ({
      artifactId,
      name: 'result',
      parts: [{ text: content, mediaType: 'text/plain' }],
    });
    const others = artifacts.filter((one) => one !== before);
    entry.task = { ...entry.task, artifacts: [...others, artifactOf(written + text)] };
    const append = before !== undefined;
    this.#send(entry, { artifactUpdate: { taskId, contextId, artifact: artifactOf(text), append, lastChunk: isLast } });
  }

  #find(owner: string, id: string): Entry | undefined {
    const entry = this.#entries.get(id);
    return entry?.owner === owner ? entry : undefined;
  }

  #send({ listeners }: Entry, event: StreamEvent): void {
    for (const listener of listeners) listener.event(event);
  }

  #status(state: TaskState): Task['status'] {
    return { state, timestamp: this.#clock.date().toISOString() };
  }

  /** Moves an ended task to the end of the order, and removes ended tasks above the limits. */
  #keepEnded(id: string, entry: Entry): void {
    entry.bytes = Buffer.byteLength(JSON.stringify(entry.task));
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    this.#count(entry, 1);
    while (this.#ended.bytes > this.#limits.keptBytes) this.#removeOldest('bytes');
    while (this.#ended.tasks > this.#limits.kept) this.#removeOldest('tasks');
  }

  /** Adds an ended task to the counts of its owner, or subtracts a removed task. */
  #count({ owner, bytes }: Entry, sign: 1 | -1): void {
    const own = this.#endedOf.get(owner) ?? { tasks: 0, bytes: 0 };
    for (const sum of [this.#ended, own]) {
      sum.tasks += sign;
      sum.bytes += sign * bytes;
    }
    if (own.tasks === 0) this.#endedOf.delete(owner);
    else this.#endedOf.set(owner, own);
  }

  /** Removes the oldest ended task of the caller with the most tasks, so that other callers keep theirs. */
  #removeOldest(by: keyof EndedTasks): void {
    const [most] = [...this.#endedOf].toSorted(([, one], [, other]) => other[by] - one[by]);
    const found = [...this.#entries].find(([, { owner, task }]) => owner === most?.[0] && isFinal(task));
    if (found === undefined) throw new TypeError('ended tasks are counted that are not kept');
    const [id, entry] = found;
    this.#entries.delete(id);
    this.#count(entry, -1);
  }
}

/** The sort key of a task in lists: the time of its status, then its id. */
export function orderOf({ id, status }: Task): string {
  return `${status.timestamp} ${id}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
