import { answers } from '#kit/testing/scripted-http';

/** An ordinary chat completion with this content. */
export function completion(content: unknown, message: object = {}, finish = 'stop'): object {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'judge-1',
    choices: [
      {
        index: 0,
        finish_reason: finish,
        logprobs: null,
        message: { role: 'assistant', content: text, refusal: null, ...message },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

export const allow = answers({ decision: 'allow' });
export const deny = answers({ decision: 'deny' });
