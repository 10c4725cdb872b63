import type { Echo } from './echo-text.ts';

/** Identity of one answer: `created` in seconds since 1970. */
type CompletionHead = { readonly id: string; readonly created: number; readonly model: string };

/** A buffered answer in the shape of the OpenAI chat completion. */
export function completionOf(head: CompletionHead, echo: Echo) {
  return {
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: echo.text, refusal: null },
        logprobs: null,
        finish_reason: echo.finishReason,
      },
    ],
    usage: echo.usage,
  };
}

/** Code points of one streamed piece. */
const pieceLength = 12;

/**
 * The chunks of a streamed answer, in order: the role, pieces of the text, the reason of the end, and the usage when
 * it was asked for.
 */
export function* chunksOf(head: CompletionHead, echo: Echo, includeUsage: boolean) {
  const usage = includeUsage ? { usage: null } : {};
  const base = { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model };
  const chunk = (delta: Record<string, string>, finishReason: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...usage,
  });
  yield chunk({ role: 'assistant', content: '' }, null);
  for (const piece of piecesOf(echo.text)) yield chunk({ content: piece }, null);
  yield chunk({}, echo.finishReason);
  if (includeUsage) yield { ...base, choices: [], usage: echo.usage };
}

function* piecesOf(text: string): Generator<string> {
  let piece = '';
  let length = 0;
  for (const character of text) {
    piece += character;
    length += 1;
    if (length < pieceLength) continue;
    yield piece;
    piece = '';
    length = 0;
  }
  if (piece !== '') yield piece;
}
