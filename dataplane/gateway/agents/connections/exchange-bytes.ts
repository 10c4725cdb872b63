import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { readBounded } from '#kit/http/read-bounded';
import { AddressRefusedError } from '#kit/net/checked-connect';
import { ConnectionError } from './connection-error.ts';

/** The service, and the settings of one exchange with it. */
export type ServiceLink = {
  /** Connects only to addresses that the connection allows. */
  readonly dispatcher: Dispatcher;
  /** The header with the credential; empty if the connection has no credential. */
  readonly credential: Readonly<Record<string, string>>;
  readonly maxAnswerBytes: number;
  readonly signal: AbortSignal;
};

export type ServiceAnswer = {
  readonly status: number;
  /** The media type in lower case, without parameters; empty if the answer has none. */
  readonly mediaType: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

type Sent = {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * Sends one request and reads its answer, without redirects, retries and compressed bodies. Of the data of the caller,
 * only the members of `sent` are sent. `read` gets the body and must read it within the limit; afterwards the body is
 * destroyed.
 * @throws ConnectionError
 */
export async function exchangeBytes<T>(
  link: ServiceLink,
  { method, url, headers, body }: Sent,
  read: (answer: ServiceAnswer, body: Readable) => Promise<T>,
): Promise<T> {
  const { dispatcher, credential, signal } = link;
  try {
    const answer = await dispatcher.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: method as Dispatcher.HttpMethod,
      signal,
      headers: {
        accept: 'application/json',
        ...headers,
        'accept-encoding': 'identity',
        'user-agent': 'portcullis',
        ...credential,
      },
      ...(body === undefined ? {} : { body }),
    });
    // Destroying a body that was not read to its end emits an error, which would be uncaught.
    answer.body.on('error', () => undefined);
    try {
      return await read(checked(answer), answer.body);
    } finally {
      answer.body.destroy();
    }
  } catch (error) {
    if (error instanceof ConnectionError) throw error;
    signal.throwIfAborted();
    throw new ConnectionError(error instanceof AddressRefusedError ? 'address_refused' : 'connection_unavailable');
  }
}

/** @throws ConnectionError for an answer that no caller gets */
function checked({ statusCode: status, headers }: Dispatcher.ResponseData): ServiceAnswer {
  if (status === 429) throw new ConnectionError('rate_limited');
  if (status === 502 || status === 503 || status === 504) throw new ConnectionError('connection_unavailable');
  const encoding = String(headers['content-encoding'] ?? 'identity');
  if (status < 200 || (status >= 300 && status < 400) || encoding.trim().toLowerCase() !== 'identity') {
    throw new ConnectionError('answer_invalid');
  }
  const [mediaType = ''] = String(headers['content-type'] ?? '').split(';', 1);
  return { status, mediaType: mediaType.trim().toLowerCase(), headers };
}

/** @throws ConnectionError answer_invalid for a body that is too large */
export async function readWhole({ maxAnswerBytes }: Pick<ServiceLink, 'maxAnswerBytes'>, body: Readable) {
  const bytes = await readBounded(body as AsyncIterable<Uint8Array>, maxAnswerBytes);
  if (bytes === undefined) throw new ConnectionError('answer_invalid');
  return bytes;
}
