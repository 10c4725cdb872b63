import type { IncomingMessage, ServerResponse } from 'node:http';
import { ensureSigningKeys, readSigningKeys, SigningKeysError } from '#identity/signing-keys';
import { listen } from '#kit/http/listen';
import { createLogger, type Logger } from '#kit/log/logger';
import type { IssuerConfig } from './config.ts';
import { sendNotFound, sendUnavailable } from './http/error-answer.ts';
import { keySet } from './http/key-set.ts';
import { openIdConfiguration } from './http/open-id-configuration.ts';

type IssuerService = AsyncDisposable & { readonly url: string };

/**
 * The development issuer publishes its public keys on loopback. It has no operation that signs: processes that can read
 * the key file sign tokens themselves.
 * @throws SigningKeysError
 */
export async function createIssuerService(
  config: IssuerConfig,
  log: Logger = createLogger({ service: 'issuer', level: 'info' }),
): Promise<IssuerService> {
  await ensureSigningKeys(config.keyFile);
  await readSigningKeys(config.keyFile);

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    switch (`${incoming.method} ${incoming.url}`) {
      case 'GET /.well-known/openid-configuration':
        return openIdConfiguration(outgoing, { issuer: config.issuer, url: listening.url });
      case 'GET /jwks.json':
        return keySet(outgoing, config.keyFile);
      default:
        return sendNotFound(outgoing);
    }
  }

  const listening = await listen({
    host: config.host,
    port: config.port,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 5_000,
    maxHeaderBytes: 16_384,
    handler: (incoming, outgoing) => {
      answer(incoming, outgoing).catch((error: unknown) => {
        if (!(error instanceof SigningKeysError)) throw error;
        log.error('keys.unreadable', { reason: error.code });
        sendUnavailable(outgoing);
      });
    },
  });
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await listening.drain({ graceMs: 1_000 });
      await listening[Symbol.asyncDispose]();
    },
  };
}
