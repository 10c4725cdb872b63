import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { withTimeout } from '#kit/concurrency/abort';
import type { AddressRules } from '#kit/net/address-rules';
import { AddressRefusedError, checkedConnect, type ResolveHost, resolveBySystem } from '#kit/net/checked-connect';
import { DependencyUnavailableError, DocumentFault } from '../faults.ts';
import type { FetchOptions } from '../ports.ts';
import { checkHttpsAnswer, type HttpsAnswer } from './check-https-answer.ts';

export type HttpsOptions = {
  readonly mayConnect: AddressRules;
  /** Timeout of a fetch from the resolution of the name to the last byte, milliseconds; 60,000 by default. */
  readonly timeoutMs?: number;
  /** The resolver of the operating system by default. */
  readonly resolve?: ResolveHost;
  /** Certificates in PEM that are trusted instead of those of the operating system. */
  readonly ca?: string;
};

type HttpsFetch = AsyncDisposable & { fetch(uri: string, options: FetchOptions): Promise<Uint8Array> };

/** Longest header section of an answer, in bytes. */
const maxHeaderSize = 16_384;

/**
 * Fetches presigned GETs. Each fetch has its own connection, follows no redirect and sends only the address: no cookie,
 * no credential, no name of this service.
 */
export function createHttpsFetch({
  mayConnect,
  timeoutMs = 60_000,
  resolve = resolveBySystem,
  ca,
}: HttpsOptions): HttpsFetch {
  const connect = checkedConnect({ resolve, mayConnect, timeoutMs, ...(ca === undefined ? {} : { ca }) });
  // Without pipelining a connection is not reused: the next fetch resolves the name and checks the address again.
  const agent = new Agent({ connect, pipelining: 0, maxHeaderSize, headersTimeout: 0, bodyTimeout: 0 });
  return {
    async fetch(uri, { maxBytes, signal }) {
      const url = checkedUrl(uri);
      using budget = withTimeout(signal, timeoutMs);
      try {
        const answer = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: 'GET',
          signal: budget.signal,
          headers: { accept: 'application/json', 'accept-encoding': 'identity' },
        });
        return await read(answer, maxBytes);
      } catch (error) {
        if (error instanceof DocumentFault) throw error;
        if (error instanceof AddressRefusedError) throw refused('its host has an address that is not allowed');
        signal.throwIfAborted();
        throw new DependencyUnavailableError('content');
      }
    },
    async [Symbol.asyncDispose]() {
      await agent.destroy();
    },
  };
}

function checkedUrl(uri: string): URL {
  const url = URL.parse(uri);
  if (url?.protocol !== 'https:') throw refused('it is not an https address');
  if (url.username !== '' || url.password !== '') throw refused('it holds a user or a password');
  return url;
}

function refused(why: string): DocumentFault {
  return new DocumentFault('address_refused', `content_ref.uri is refused: ${why}`);
}

type Answer = HttpsAnswer & { readonly body: Readable };

async function read(answer: Answer, maxBytes: number): Promise<Uint8Array> {
  // Destroying a body that was not read to its end emits an error, which would be uncaught.
  answer.body.on('error', () => undefined);
  try {
    checkHttpsAnswer(answer, maxBytes);
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > maxBytes) throw new DocumentFault('too_large', `content_ref names more than ${maxBytes} bytes`);
      parts.push(part);
    }
    return Buffer.concat(parts, length);
  } finally {
    answer.body.destroy();
  }
}
