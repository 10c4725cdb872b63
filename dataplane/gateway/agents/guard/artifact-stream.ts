import { JudgedStream } from '#checks/guard/judged-stream';
import type { JsonValue } from '#kit/json/json-value';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import { isWireObject } from './judge-call.ts';
import { PiecewiseText } from './piecewise-text.ts';
import { treeBytes } from './tree-bytes.ts';
import type { StageGuard } from './version-guard.ts';

type Members = Record<string, JsonValue>;
type Part = Members;

/** An update of an artifact, as the process sent it. */
export type ArtifactUpdate = Members & { readonly artifact: Members };

/**
 * One artifact that arrives in parts. No part of it is sent before its check: a text is judged in windows if the policy
 * allows that, and all other content when the artifact is complete.
 */
export class ArtifactStream {
  readonly #guard: StageGuard;
  readonly #emit: (event: Members) => void;
  readonly #text: JudgedStream | undefined;
  /** The first update without its parts, with which every event of the artifact is written. */
  readonly #head: Members;
  readonly #artifact: Members;
  /**
   * The plain text with which the artifact begins. Its parts are judged as one text, because a phrase may span two
   * parts.
   */
  readonly #begin = new PiecewiseText();
  /** The form of the first part of that text; undefined if the artifact begins with no text. */
  #form: Members | undefined;
  /** The parts of the artifact from the first part that is not plain text. */
  readonly #parts: Part[] = [];
  #bytes = 0;
  #heldBytes = 0;
  #hasSent = false;

  /**
   * @param first the update with which the artifact begins; its other members were judged
   * @param emit takes an event that may be sent
   */
  constructor(guard: StageGuard, first: ArtifactUpdate, signal: AbortSignal, emit: (event: Members) => void) {
    const { artifact, append: _append, lastChunk: _last, ...head } = first;
    const { parts: _parts, ...rest } = artifact;
    this.#guard = guard;
    this.#emit = emit;
    this.#head = head;
    this.#artifact = rest;
    this.#text = guard.judgesWindows
      ? new JudgedStream({
          judge: (text) => guard.judgeWindow(text),
          refuse: (code) => new AgentRefusal(code === 'output_invalid' ? 'answer_refused' : code),
          signal,
          onReleased: (text) => this.#send([{ ...this.#form, text }], false),
        })
      : undefined;
  }

  /**
   * Bytes of the parts of the artifact as JSON. They are held until the artifact is complete, because a part of another
   * kind may follow.
   */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes of memory that its parts take. */
  get heldBytes(): number {
    return this.#heldBytes + (this.#text?.heldBytes ?? 0);
  }

  /**
   * Takes the next parts.
   * @param bytes their bytes as JSON
   * @throws AgentRefusal
   */
  async add(parts: readonly JsonValue[], bytes: number): Promise<void> {
    this.#bytes += bytes;
    this.#heldBytes += bytes;
    for (const part of parts) {
      if (!isWireObject(part)) throw new AgentRefusal('answer_refused');
      if (this.#parts.length === 0 && isPlainText(part)) await this.#addText(part);
      else this.#addPart(part);
    }
  }

  async #addText({ text, ...form }: Part): Promise<void> {
    if (this.#form === undefined) this.#heldBytes += treeBytes({ text: '', ...form });
    this.#form ??= form;
    this.#begin.add(String(text));
    await this.#text?.add(String(text));
  }

  #addPart(part: Part): void {
    if (this.#text?.hasBegun === true) throw new AgentRefusal('answer_refused');
    this.#heldBytes += treeBytes(part);
    this.#parts.push(part);
  }

  /** Judges the held text and sends it as the last part. @throws AgentRefusal */
  async finish(): Promise<void> {
    const text = this.#begin.toString();
    if (this.#text?.hasBegun === true) {
      this.#send([{ ...this.#form, text: await this.#text.finish(text) }], true);
      return;
    }
    const begin = this.#form === undefined ? [] : [{ ...this.#form, text }];
    const artifact = { parts: [...begin, ...this.#parts] };
    await this.#guard.judge({ artifact }, 'artifact');
    this.#send(artifact.parts, true);
  }

  #send(parts: readonly Part[], lastChunk: boolean): void {
    const artifact = { ...this.#artifact, parts: [...parts] };
    this.#emit({ ...this.#head, artifact, append: this.#hasSent, lastChunk });
    this.#hasSent = true;
  }
}

/** Whether a part consists of a text only. */
function isPlainText(part: Part): boolean {
  const { text, mediaType = 'text/plain', ...more } = part;
  return typeof text === 'string' && mediaType === 'text/plain' && Object.keys(more).length === 0;
}
