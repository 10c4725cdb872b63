import type { Echo } from './echo-text.ts';

/** The id, creation time and model of one answer: `created` in seconds since 1970. */
type CompletionHead = { readonly id: string; readonly created: number; readonly model: string };

/** A whole answer of the echo provider, in the shape of an OpenAI chat completion. */
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

/** Number of code points in each piece of a streamed answer. */
const pieceLength = 12;

/**
 * The chunks of a streamed chat answer, in order: the role, pieces of the text, the finish reason, and the usage if the
 * request includes it.
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
