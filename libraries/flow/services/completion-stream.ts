import { z } from 'zod';
import { flowLimits } from '#contracts/flow-limits';
import { SseReader } from '#kit/http/sse-reader';
import { PortError } from '../engine/flow-error.ts';
import { readServiceAnswer } from './caller-service.ts';

const count = z.int().min(0).default(0);
export const usageSchema = z.object({ prompt_tokens: count, completion_tokens: count }).nullish();

/** A whole completion of the chat API, as far as flows use it. */
export type Completion = {
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: string | undefined;
  readonly usage: z.output<typeof usageSchema>;
};

const index = z.int().min(0).lt(flowLimits.tools);
const callPiece = z.object({
  index,
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish(), tool_calls: z.array(callPiece).nullish() }).nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: usageSchema,
});
/** The frame with which a gateway ends a stream that it cannot continue. */
const errorFrame = z.object({ error: z.object({ code: z.string().nullish() }) });

/** Maximum number of bytes of one event, and of all events of an answer. */
const mostEventBytes = 1_048_576;
const mostBytes = 16 * flowLimits.outputBytes;

/**
 * Reads a streamed completion and passes each piece of its text to `onText` as it arrives.
 * @returns the whole completion
 * @throws PortError guardrail_denied if the gateway denied the rest of the text, unavailable if the stream ends early,
 * answer_invalid for a stream that is not of the chat API, or that is too large
 */
export async function readCompletionStream(
  body: AsyncIterable<Uint8Array>,
  onText: (text: string) => void,
): Promise<Completion> {
  const reader = new SseReader(mostEventBytes);
  const pieces = new CompletionPieces(onText);
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > mostBytes) throw new PortError('answer_invalid');
    reader.push(part);
    for (let event = reader.next(); event !== undefined; event = reader.next()) {
      if (event.kind === 'comment') continue;
      if (event.kind === 'too_large') throw new PortError('answer_invalid');
      const data = event.data.toString('utf8');
      if (data === '[DONE]') return pieces.whole();
      pieces.add(data);
    }
  }
  throw new PortError('unavailable');
}

class CompletionPieces {
  readonly #onText: (text: string) => void;
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #text = '';
  #finishReason: string | undefined;
  #usage: Completion['usage'];

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
  }

  add(data: string): void {
    const value = parsed(data);
    const failed = errorFrame.safeParse(value);
    if (failed.success) {
      throw new PortError(failed.data.error.code === 'policy_denied' ? 'guardrail_denied' : 'unavailable');
    }
    const { choices, usage } = readServiceAnswer(chunkSchema, value);
    this.#usage = usage ?? this.#usage;
    const [choice] = choices;
    if (choice === undefined) return;
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    for (const { index: at, id, function: piece } of choice.delta?.tool_calls ?? []) {
      const call = this.#calls.get(at) ?? { id: '', name: '', arguments: '' };
      this.#calls.set(at, {
        id: call.id + (id ?? ''),
        name: call.name + (piece?.name ?? ''),
        arguments: call.arguments + (piece?.arguments ?? ''),
      });
    }
    const text = choice.delta?.content ?? '';
    if (text === '') return;
    this.#text += text;
    this.#onText(text);
  }

  whole(): Completion {
    const toolCalls = [...this.#calls].sort(([one], [other]) => one - other).map(([, call]) => call);
    return { text: this.#text, toolCalls, finishReason: this.#finishReason, usage: this.#usage };
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    throw new PortError('answer_invalid');
  }
}
