import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { type ConnectionFault, connectionFault } from '#kit/http/connection-fault';
import type { TokenFile } from '#kit/http/token-file';
import { readCredential } from '#providers/credential-cause';
import { type AnswerBody, PushedBody } from './answer-body.ts';
import { BodyPieces } from './body-pieces.ts';

/** One call to a model provider. */
export type UpstreamCall = {
  /** Base URL of the provider's API, such as `https://api.example/v1`; its query is sent with every call. */
  readonly endpoint: string;
  /** Path below the base URL, with a leading slash. */
  readonly path: string;
  readonly body: Uint8Array;
  /** Name of the credential's file in the folder of provider credentials. */
  readonly credential: string | undefined;
  /** Headers of the client's request that are forwarded to the provider. */
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: 'application/json' | 'text/event-stream';
};

/** Status and headers of a provider answer. The caller reads or destroys the body. */
export type UpstreamAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly mediaType: string;
      readonly encoded: boolean;
      readonly retryAfter: string | undefined;
      readonly body: AnswerBody;
    }
  | { readonly kind: 'unreachable'; readonly cause: ConnectionFault }
  | { readonly kind: 'no_credential'; readonly cause: 'credential_missing' | 'credential_unreadable' };

/**
 * The HTTP client for model providers: one keep-alive pool per origin, no redirects, no retries, no compressed answers.
 * A call rejects only with the reason of its signal.
 */
export type UpstreamClient = AsyncDisposable & {
  call(call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer>;
};

type UpstreamOptions = {
  /** Reads the file of a provider credential by its name. @throws TokenFileError when the file cannot be used */
  readonly openCredential: (name: string) => TokenFile;
};

/** A body of at least this size is sent in pieces, so that it is not kept until the answer of the provider is complete. */
export const releasedBodyBytes = 1_048_576;

export function createUpstreamClient({ openCredential }: UpstreamOptions): UpstreamClient {
  const agent = new Agent({ pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32_768 });
  const credentials = new Map<string, TokenFile>();

  function fileOf(name: string): TokenFile {
    const file = credentials.get(name) ?? openCredential(name);
    credentials.set(name, file);
    return file;
  }

  return {
    async call(call, signal) {
      const { credential } = call;
      const reading = credential === undefined ? undefined : readCredential(() => fileOf(credential));
      if (reading?.ok === false) return { kind: 'no_credential', cause: reading.cause };
      const { origin, path } = addressOf(call);
      const { body } = call;
      const isLarge = body.length >= releasedBodyBytes;
      try {
        const headers = {
          ...call.headers,
          'content-type': 'application/json',
          accept: call.accept,
          'accept-encoding': 'identity',
          ...(isLarge ? { 'content-length': String(body.length) } : {}),
          ...(reading === undefined ? {} : { authorization: `Bearer ${reading.token}` }),
        };
        const sent = isLarge ? Readable.from(new BodyPieces(body)) : body;
        return await dispatch(agent, { origin, path, method: 'POST', body: sent, headers }, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        return { kind: 'unreachable', cause: connectionFault(error) };
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

/**
 * Sends a request and resolves with the head of its answer. The body is pushed as it arrives. An aborted signal rejects the
 * request or fails the body with its reason.
 */
function dispatch(agent: Agent, request: Dispatcher.DispatchOptions, signal: AbortSignal): Promise<UpstreamAnswer> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<UpstreamAnswer>();
  let sending: Dispatcher.DispatchController | undefined;
  let body: PushedBody | undefined;

  function onAbort(): void {
    fail(signal.reason);
    sending?.abort(signal.reason);
  }
  function fail(error: unknown): void {
    signal.removeEventListener('abort', onAbort);
    if (body === undefined) reject(error);
    else body.fail(error);
  }

  signal.addEventListener('abort', onAbort, { once: true });
  agent.dispatch(request, {
    onRequestStart(controller) {
      sending = controller;
      if (signal.aborted) controller.abort(signal.reason);
    },
    onResponseStart(controller, status, headers) {
      if (status < 200) return;
      body = new PushedBody(controller);
      resolve(readHead(status, headers, body));
    },
    onResponseData(_controller, part) {
      body?.push(part);
    },
    onResponseEnd() {
      signal.removeEventListener('abort', onAbort);
      body?.complete();
    },
    onResponseError(_controller, error) {
      fail(error);
    },
  });
  return promise;
}

function readHead(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: AnswerBody,
): UpstreamAnswer {
  const contentType = headers['content-type'];
  const mediaType = typeof contentType === 'string' ? (contentType.split(';', 1)[0] ?? '').trim().toLowerCase() : '';
  const encoding = headers['content-encoding'];
  const retryAfter = headers['retry-after'];
  return {
    kind: 'answer',
    status,
    mediaType,
    encoded: encoding !== undefined && encoding !== 'identity',
    retryAfter: typeof retryAfter === 'string' && /^\d{1,5}$/.test(retryAfter) ? retryAfter : undefined,
    body,
  };
}

function addressOf({ endpoint, path }: UpstreamCall): { readonly origin: string; readonly path: string } {
  const base = new URL(endpoint);
  return { origin: base.origin, path: `${base.pathname.replace(/\/+$/, '')}${path}${base.search}` };
}
