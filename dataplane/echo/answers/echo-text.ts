import { z } from 'zod';

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.union([textPart, z.looseObject({ type: z.string() })]))]).nullish(),
});

/** The members of a chat request that the echo provider reads; it ignores all others. */
export const chatRequestSchema = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  n: z.literal(1).nullish(),
});

type ChatRequest = z.infer<typeof chatRequestSchema>;
type ChatMessage = ChatRequest['messages'][number];

/** The text of a message: its content, or its text parts in order, joined by a line feed. */
function textOf({ content }: ChatMessage): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.flatMap((part) => ('text' in part && typeof part.text === 'string' ? [part.text] : [])).join('\n');
}

export type Echo = {
  readonly text: string;
  readonly finishReason: 'stop' | 'length';
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
};

/**
 * The answer to a request: the whole text of its last user message, word by word; without a user message, that of its
 * last message.
 */
export function echoOf(request: ChatRequest): Echo {
  const last = request.messages.findLast(({ role }) => role === 'user') ?? request.messages.at(-1);
  const words = last === undefined ? [] : wordsOf(textOf(last));
  const most = request.max_completion_tokens ?? request.max_tokens ?? words.length;
  const said = words.slice(0, most);
  const prompt = request.messages.reduce((sum, each) => sum + wordsOf(textOf(each)).length, 0);
  return {
    text: said.join(''),
    finishReason: said.length < words.length ? 'length' : 'stop',
    usage: { prompt_tokens: prompt, completion_tokens: said.length, total_tokens: prompt + said.length },
  };
}

/**
 * Splits a text into the tokens that the echo provider counts: each is a word or a punctuation mark with the white
 * space before it. Joined, the tokens are the text.
 */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*(?:[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_])|\s+$/gu) ?? [];
}
