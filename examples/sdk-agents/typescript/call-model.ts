import type { GatewayCall } from './verify-call.ts';

type Asked = { readonly gateway: URL; readonly model: string; readonly content: string };
type Whole = { readonly choices: readonly { readonly message: { readonly content: string } }[] };
type Chunk = { readonly choices: readonly { readonly delta: { readonly content?: string } }[] };

/** The model is not available. */
class ModelUnavailable extends Error {}

/** Calls a model on behalf of the person. @returns the whole answer @throws ExchangeRefused, ModelUnavailable */
export async function callModel(call: GatewayCall, asked: Asked): Promise<string> {
  const { choices } = (await (await request(call, asked, false)).json()) as Whole;
  return choices[0]?.message.content ?? '';
}

/** Calls a model on behalf of the person and yields its answer in pieces. @throws ExchangeRefused, ModelUnavailable */
export async function* streamModel(call: GatewayCall, asked: Asked): AsyncGenerator<string> {
  const { body } = await request(call, asked, true);
  let text = '';
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const event = JSON.parse(line.slice(6)) as Chunk | { readonly error: unknown };
      // A stream of the gateway that breaks off ends with an error.
      if ('error' in event) throw new ModelUnavailable();
      const content = event.choices[0]?.delta.content;
      if (content !== undefined && content !== '') yield content;
    }
  }
}

async function request(call: GatewayCall, { gateway, model, content }: Asked, stream: boolean): Promise<Response> {
  const answer = await fetch(new URL('/v1/chat/completions', gateway), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await call.tokenFor('urn:portcullis:models')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content }] }),
  });
  if (!answer.ok) throw new ModelUnavailable();
  return answer;
}
