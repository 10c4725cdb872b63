import type { FlowErrorCode } from '#contracts/flow-errors';
import type { JsonValue } from '#kit/json/json-value';
import type { NodeKind } from '../definition/node-schemas.ts';

/**
 * The place at which a node ran: the ids of the nodes around it, each with the number of its turn, as in `each[3]/ask`.
 */
type Place = { readonly node: string; readonly path: string };

/** The result of a flow: text, data or both. */
export type FlowResult = { readonly text?: string; readonly data?: JsonValue };

/**
 * The events of a run, in order. The last event is `result` or `failed`; only `text` and `result` have texts of the
 * run.
 */
export type RunEvent =
  | (Place & { readonly type: 'nodeStarted'; readonly kind: NodeKind })
  | (Place & {
      readonly type: 'nodeEnded';
      readonly kind: NodeKind;
      readonly outcome: 'ok' | FlowErrorCode;
      readonly attempts: number;
      readonly durationMs: number;
    })
  | (Place & { readonly type: 'text'; readonly text: string })
  | { readonly type: 'result'; readonly result: FlowResult }
  | {
      readonly type: 'failed';
      readonly code: FlowErrorCode;
      /** The code of a fail node. */
      readonly flowCode?: string;
      readonly message: string;
      readonly path?: string;
    };

/** The queue of events between the run, which adds events, and its only reader, which takes them. */
export class EventQueue {
  readonly #events: RunEvent[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  /** An event after the end is dropped, because the last event is `result` or `failed`. */
  add(event: RunEvent): void {
    if (this.#ended) return;
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *read(): AsyncGenerator<RunEvent, void, undefined> {
    while (true) {
      for (const event of this.#events.splice(0)) yield event;
      if (this.#events.length > 0) continue;
      if (this.#ended) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}
