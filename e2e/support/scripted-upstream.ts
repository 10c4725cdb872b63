import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A request that the provider received. */
type SeenRequest = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Body as it came over the wire. */
  readonly text: string;
  readonly stream: boolean;
};

/** How a provider behaves for one request. */
export type UpstreamScript =
  /** Answers like a model, whole or in frames of `frameLength` characters, as the request demands. */
  | { readonly kind: 'answer'; readonly content: string; readonly frameLength?: number; readonly frameDelayMs?: number }
  /** Streams one piece of text every `everyMs` until `ends` returns true; then completes the stream. */
  | {
      readonly kind: 'live';
      readonly piece: (index: number) => string;
      readonly everyMs: number;
      readonly ends: () => boolean;
    }
  /** Sends these bytes as a stream and then ends, breaks the connection or stays silent. */
  | { readonly kind: 'frames'; readonly frames: readonly string[]; readonly end: 'close' | 'break' | 'silence' }
  | { readonly kind: 'status'; readonly status: number; readonly body: string; readonly location?: string }
  | { readonly kind: 'raw'; readonly body: string; readonly contentType: string }
  /** Breaks the connection before the first byte of an answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'silence' };

export type ScriptedUpstream = AsyncDisposable & {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Sets the behaviour for all following requests. */
  readonly play: (script: UpstreamScript | ((request: SeenRequest) => UpstreamScript)) => void;
  /** Empties `seen`. */
  readonly forget: () => void;
};

const base = { id: 'chatcmpl-scripted', created: 1_700_000_000, model: 'scripted' };

/** One frame of a streamed answer. */
export function contentFrame(content: string, finish: string | null = null): string {
  const choices = [{ index: 0, delta: content === '' ? {} : { content }, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices })}\n\n`;
}

export const doneFrame = 'data: [DONE]\n\n';

/** A whole answer. */
export function completion(content: string): string {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return JSON.stringify({ ...base, object: 'chat.completion', choices });
}

function pieces(text: string, length: number): readonly string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / length);
  return Array.from({ length: count }, (_, index) => characters.slice(index * length, (index + 1) * length).join(''));
}

async function writeFrames(response: ServerResponse, frames: readonly string[], delayMs: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of frames) {
    if (response.destroyed) return;
    // Flushed to the socket before the next step, so that breaking the connection loses no earlier frame.
    await new Promise((resolve) => response.write(frame, resolve));
    if (delayMs > 0) await pause(delayMs);
  }
}

async function playScript(script: UpstreamScript, request: SeenRequest, response: ServerResponse): Promise<void> {
  switch (script.kind) {
    case 'answer': {
      if (!request.stream) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(completion(script.content));
        return;
      }
      const frames = pieces(script.content, script.frameLength ?? 8).map((piece) => contentFrame(piece));
      await writeFrames(response, [...frames, contentFrame('', 'stop'), doneFrame], script.frameDelayMs ?? 0);
      response.end();
      return;
    }
    case 'live': {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let index = 0; !script.ends() && !response.destroyed; index += 1) {
        response.write(contentFrame(script.piece(index)));
        await pause(script.everyMs);
      }
      response.end(contentFrame('', 'stop') + doneFrame);
      return;
    }
    case 'frames':
      await writeFrames(response, script.frames, 0);
      if (script.end === 'close') response.end();
      if (script.end === 'break') response.destroy();
      return;
    case 'status': {
      const location = script.location === undefined ? {} : { location: script.location };
      response.writeHead(script.status, { 'content-type': 'application/json', ...location }).end(script.body);
      return;
    }
    case 'raw':
      response.writeHead(200, { 'content-type': script.contentType }).end(script.body);
      return;
    case 'reset':
      response.destroy();
      return;
    case 'silence':
      return;
  }
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const stream = /"stream"\s*:\s*true/.test(text);
  return { path: request.url ?? '', headers: request.headers, text, stream };
}

/** An OpenAI-compatible provider on loopback that records its requests and follows a script. */
export async function startScriptedUpstream(first: UpstreamScript): Promise<ScriptedUpstream> {
  const seen: SeenRequest[] = [];
  let choose: (request: SeenRequest) => UpstreamScript = () => first;
  const server = createServer((incoming, response) => {
    readRequest(incoming)
      .then((request) => {
        seen.push(request);
        return playScript(choose(request), request, response);
      })
      .catch(() => response.destroy());
  });
  return {
    url: await listenOnLoopback(server),
    seen,
    play: (script) => {
      choose = typeof script === 'function' ? script : () => script;
    },
    forget: () => {
      seen.length = 0;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}
