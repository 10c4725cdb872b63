import type { SeenRequest } from '#kit/testing/scripted-http';
import {
  callItem,
  messageItem,
  responseBody,
  responseEvents,
  responseStream,
} from '../../../../dataplane/gateway/testing/response-script.ts';
import type { UpstreamScript } from '../../../support/scripted-upstream.ts';

/** The calls of tools that the scripted model makes before it answers. */
export const turns = 10;

type Asked = {
  readonly stream?: boolean;
  readonly messages?: readonly { readonly role: string }[];
  readonly input?: unknown;
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
  readonly response_format?: { readonly type: string };
  readonly text?: { readonly format?: { readonly type: string } };
  readonly encoding_format?: string;
};
type Step = { readonly call: string; readonly id: string; readonly input: string } | { readonly say: string };

/** A model that calls the first tool of a request ten times and then reports it; it also embeds and writes JSON. */
export function playAgent({ text, path }: Pick<SeenRequest, 'text' | 'path'>): UpstreamScript {
  const asked = JSON.parse(text) as Asked;
  if (path.endsWith('/embeddings')) return json(embeddings(asked));
  if (path.endsWith('/responses')) return playResponse(asked);
  const step = stepOf(asked, (asked.messages ?? []).filter(({ role }) => role === 'tool').length);
  return asked.stream === true ? frames(chatFrames(step)) : json(chatBody(step));
}

function stepOf(asked: Asked, results: number): Step {
  const [tool] = asked.tools ?? [];
  const name = tool?.function?.name ?? tool?.name;
  if (name !== undefined && results < turns)
    return { call: name, id: `call_${results}`, input: `{"city":"city ${results}"}` };
  const format = asked.response_format?.type ?? asked.text?.format?.type;
  return { say: format === 'json_schema' ? '{"city":"Oslo"}' : `done after ${results} calls` };
}

const base = { id: 'chatcmpl-1', created: 1, model: 'scripted' };
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

function chatBody(step: Step): object {
  const message =
    'say' in step
      ? { role: 'assistant', content: step.say, refusal: null, annotations: [] }
      : { role: 'assistant', content: null, tool_calls: [toolCall(step)] };
  const finish_reason = 'say' in step ? 'stop' : 'tool_calls';
  return { ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason, logprobs: null }], usage };
}

function toolCall({ call, id, input }: Extract<Step, { call: string }>) {
  return { id, type: 'function', function: { name: call, arguments: input } };
}

function chatFrames(step: Step): readonly string[] {
  const deltas =
    'say' in step
      ? [{ role: 'assistant', content: '' }, ...[...step.say].map((content) => ({ content }))]
      : [
          { role: 'assistant', content: null, tool_calls: [{ index: 0, ...toolCall({ ...step, input: '' }) }] },
          ...[...step.input].map((part) => ({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
        ];
  const chunk = (delta: object, finish_reason: string | null) => ({
    ...base,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    // Padding as api.openai.com adds it to each frame.
    obfuscation: 'x9Kq2LmZ0aB'.slice(JSON.stringify(delta).length % 8),
  });
  const finish = 'say' in step ? 'stop' : 'tool_calls';
  const all = [...deltas.map((delta) => chunk(delta, null)), chunk({}, finish)];
  return [...all.map((one) => `data: ${JSON.stringify(one)}\n\n`), 'data: [DONE]\n\n'];
}

function playResponse(asked: Asked): UpstreamScript {
  const items = Array.isArray(asked.input) ? (asked.input as { type?: string }[]) : [];
  const step = stepOf(asked, items.filter(({ type }) => type === 'function_call_output').length);
  const item =
    'say' in step ? messageItem([step.say]) : { ...callItem(step.input, step.call, `fc_${step.id}`), call_id: step.id };
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
  const more = { usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, ...details } };
  if (asked.stream !== true) return json(responseBody([item], more));
  return frames([responseStream(responseEvents([item], (whole) => [...whole], more))]);
}

function embeddings({ input, encoding_format: format }: Asked): object {
  const vector = [0.5, -0.25, 1];
  const embedding = format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector;
  const count = Array.isArray(input) ? input.length : 1;
  const data = Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding }));
  return { object: 'list', model: 'scripted', data, usage: { prompt_tokens: 1, total_tokens: 1 } };
}

function json(body: object): UpstreamScript {
  return { kind: 'raw', body: JSON.stringify(body), contentType: 'application/json' };
}

function frames(all: readonly string[]): UpstreamScript {
  return { kind: 'frames', frames: all, end: 'end' };
}
