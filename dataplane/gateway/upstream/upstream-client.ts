import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { type ConnectionFault, connectionFault } from '#kit/http/connection-fault';
import type { TokenFile } from '#kit/http/token-file';
import { readCredential } from '#providers/credential-cause';

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
      readonly body: Readable;
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
      try {
        const answer = await agent.request({
          origin,
          path,
          method: 'POST',
          signal,
          body: call.body,
          headers: {
            ...call.headers,
            'content-type': 'application/json',
            accept: call.accept,
            'accept-encoding': 'identity',
            ...(reading === undefined ? {} : { authorization: `Bearer ${reading.token}` }),
          },
        });
        return readHead(answer.statusCode, answer.headers, answer.body);
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

function readHead(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Readable,
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
