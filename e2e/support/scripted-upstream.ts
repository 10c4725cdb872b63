import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  answers,
  close,
  type ScriptedHttp,
  type SeenRequest,
  silence,
  startScriptedHttp,
  streams,
} from '#kit/testing/scripted-http';

/** How the scripted provider behaves for one request. */
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
  | { readonly kind: 'frames'; readonly frames: readonly string[]; readonly end: 'end' | 'close' | 'silence' }
  | { readonly kind: 'status'; readonly status: number; readonly body: string; readonly location?: string }
  | { readonly kind: 'raw'; readonly body: string; readonly contentType: string }
  /** Breaks the connection before the first byte of an answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'silence' };

/** An OpenAI-compatible provider. */
export type ScriptedUpstream = Omit<ScriptedHttp, 'play'> & {
  /** Sets the behaviour for all following requests. */
  readonly play: (script: UpstreamScript | ((request: SeenRequest) => UpstreamScript)) => void;
};

const base = { id: 'chatcmpl-scripted', created: 1_700_000_000, model: 'scripted' };
const eventStream = 'text/event-stream';

/** One frame of a streamed answer. */
export function contentFrame(content: string, finish: string | null = null): string {
  const choices = [{ index: 0, delta: content === '' ? {} : { content }, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices })}\n\n`;
}

export const scriptedDoneFrame = 'data: [DONE]\n\n';

/** A whole answer. */
export function completionBody(content: string): string {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return JSON.stringify({ ...base, object: 'chat.completion', choices });
}

/** Whether a request asks for a stream. */
export function wantsStream({ text }: Pick<SeenRequest, 'text'>): boolean {
  return /"stream"\s*:\s*true/.test(text);
}

function pieces(text: string, length: number): readonly string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / length);
  return Array.from({ length: count }, (_, index) => characters.slice(index * length, (index + 1) * length).join(''));
}

function playScript(script: UpstreamScript, request: SeenRequest, response: ServerResponse): unknown {
  switch (script.kind) {
    case 'answer': {
      if (!wantsStream(request)) return answers(completionBody(script.content))(response, request);
      const { content, frameLength = 8, frameDelayMs: delayMs = 0 } = script;
      const frames = [...pieces(content, frameLength).map((piece) => contentFrame(piece)), contentFrame('', 'stop')];
      return streams([...frames, scriptedDoneFrame], 'end', { contentType: eventStream, delayMs })(response, request);
    }
    case 'live':
      return playLive(script, response);
    case 'frames':
      return streams(script.frames, script.end, { contentType: eventStream })(response, request);
    case 'status': {
      const location = script.location === undefined ? {} : { location: script.location };
      return answers(script.body, script.status, location)(response, request);
    }
    case 'raw':
      return answers(script.body, 200, { 'content-type': script.contentType })(response, request);
    case 'reset':
      return close(response);
    case 'silence':
      return silence();
  }
}

async function playLive(script: UpstreamScript & { kind: 'live' }, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': eventStream });
  for (let index = 0; !script.ends() && !response.destroyed; index += 1) {
    response.write(contentFrame(script.piece(index)));
    await pause(script.everyMs);
  }
  response.end(contentFrame('', 'stop') + scriptedDoneFrame);
}

export async function startScriptedUpstream(first: UpstreamScript): Promise<ScriptedUpstream> {
  let choose: (request: SeenRequest) => UpstreamScript = () => first;
  const server = await startScriptedHttp((response, request) => playScript(choose(request), request, response));
  return {
    ...server,
    play: (script) => {
      choose = typeof script === 'function' ? script : () => script;
    },
  };
}
