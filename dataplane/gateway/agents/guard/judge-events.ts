import type { JsonValue } from '#kit/json/json-value';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { ArtifactStream, type ArtifactUpdate } from './artifact-stream.ts';
import { type AnswerFacts, judgeMessage, messageOfImage } from './judge-answer.ts';
import { isWireObject, wireBytes } from './judge-call.ts';
import type { Hold } from './tree-bytes.ts';

type Members = Record<string, JsonValue>;

/** Judges the events of a stream of an image in their order. */
type EventJudge = {
  /** Takes one event; the parts that may be sent go to `emit`. @throws AgentRefusal */
  take(data: Uint8Array): Promise<void>;
  /** The stream has ended: sends the held events. @throws AgentRefusal */
  end(): Promise<void>;
  /** Bytes of memory that the open artifacts take. */
  readonly heldBytes: number;
};

type EventParts = {
  readonly signal: AbortSignal;
  /** Reserves memory for one event, in addition to the memory of the open artifacts. */
  readonly hold: Hold;
  /** Takes the data of an event that may be sent, in order. */
  readonly emit: (data: Buffer) => void;
};

/** The members of an event of A2A, and the one of the last event of a stream that failed: each event has one of them. */
const eventMembers: ReadonlySet<string> = new Set(['task', 'message', 'statusUpdate', 'artifactUpdate', 'error']);

/** Artifacts that one stream may have open at a time. */
const mostArtifacts = 64;
/** Bytes that all open artifacts of one stream have together, as JSON. */
const mostBytes = 4_194_304;

/**
 * Judges a stream of A2A or MCP. An artifact of A2A may arrive in parts; every other event is judged as a whole. Held
 * artifacts are completed before an event that ends or shows the task.
 */
export function createEventJudge(facts: AnswerFacts, { signal, hold, emit }: EventParts): EventJudge {
  const { guard, operation } = facts;
  const open = new Map<string, ArtifactStream>();

  function sumOf(member: 'bytes' | 'heldBytes'): number {
    let sum = 0;
    for (const artifact of open.values()) sum += artifact[member];
    return sum;
  }

  async function finishAll(): Promise<void> {
    for (const [id, artifact] of open) {
      open.delete(id);
      await artifact.finish();
    }
  }

  async function takeUpdate(update: Members): Promise<void> {
    if (!isUpdate(update)) throw new AgentRefusal('answer_refused');
    const { artifact, lastChunk } = update;
    const { parts, ...rest } = artifact;
    const id = rest['artifactId'];
    if (typeof id !== 'string' || !Array.isArray(parts)) throw new AgentRefusal('answer_refused');
    const head = { ...update, artifact: rest } as ArtifactUpdate;
    await guard.judge({ artifactUpdate: head }, 'artifactUpdate');
    let stream = open.get(id);
    // The text that an update continues was not judged together with it: a phrase could span both.
    if (stream === undefined && update['append'] === true) throw new AgentRefusal('answer_refused');
    // Without `append` the update replaces the artifact, so that the previous artifact is complete.
    if (stream !== undefined && update['append'] !== true) {
      open.delete(id);
      await stream.finish();
      stream = undefined;
    }
    if (stream === undefined && open.size >= mostArtifacts) throw new AgentRefusal('answer_refused');
    const bytes = parts.reduce((sum: number, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0);
    if (sumOf('bytes') + bytes > mostBytes) throw new AgentRefusal('answer_refused');
    // While the text is judged in windows, the windows are two further copies of it.
    if (guard.judgesWindows && !(await hold(2 * bytes))) throw new AgentRefusal('overloaded');
    stream ??= new ArtifactStream(guard, head, signal, (event) => emit(wireBytes({ artifactUpdate: event })));
    open.set(id, stream);
    await stream.add(parts, bytes);
    if (lastChunk !== true) return;
    open.delete(id);
    await stream.finish();
  }

  return {
    async take(data) {
      if (operation.mode === 'A2A') {
        const { name, value } = eventOf(data);
        if (name === 'artifactUpdate') return await takeUpdate(value);
        if (name !== 'statusUpdate' || !isProgress(value)) await finishAll();
      }
      emit(await judgeMessage(data, facts, hold));
    },
    end: finishAll,
    get heldBytes() {
      return sumOf('heldBytes');
    },
  };
}

/**
 * An event with exactly one member of A2A, in its one spelling. Any other event could be an update of an artifact to the
 * client and something else to the gateway. @throws AgentRefusal
 */
function eventOf(data: Uint8Array): { readonly name: string; readonly value: Members } {
  const [first, ...more] = Object.entries(messageOfImage(data) ?? {});
  if (first === undefined || more.length > 0) throw new AgentRefusal('answer_refused');
  const [name, value] = first;
  if (!eventMembers.has(name) || !isWireObject(value)) throw new AgentRefusal('answer_refused');
  return { name, value };
}

/** A status of a task that has not ended: its artifacts may still grow. */
function isProgress({ status }: Members): boolean {
  const state = isWireObject(status) ? status['state'] : undefined;
  return state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_SUBMITTED';
}

function isUpdate(value: Members): value is ArtifactUpdate {
  return isWireObject(value['artifact']);
}
