import { ensureSigningKeys, readSigningKeys } from '#identity/signing-keys';
import { listen } from '#kit/http/listen';
import { createLogger, type Logger } from '#kit/log/logger';
import { openOneTimeCode } from './codes/one-time-code.ts';
import { signInApp } from './http/app.ts';
import type { SignInConfig } from './setup/sign-in-config.ts';

type SignInService = AsyncDisposable & { readonly url: string };

/**
 * Sign-in pages of one machine, on loopback. The account that starts the platform reads the code of each sign-in
 * in its terminal; other accounts of the machine cannot.
 * @throws SigningKeysError, FileWriteError, ListenError
 */
export async function createSignInService(
  config: SignInConfig,
  logger: Logger = createLogger({ service: 'signin', level: config.logLevel }),
): Promise<SignInService> {
  await ensureSigningKeys(config.keyFile);
  await readSigningKeys(config.keyFile);
  const oneTimeCode = await openOneTimeCode(config.codeFile);
  const app = signInApp({ config, oneTimeCode, logger, origin: () => listening.url });
  const listening = await listen({
    host: config.host,
    port: config.port,
    fetch: app.fetch,
    onContinue: 'at_once',
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 5_000,
    maxHeaderBytes: 16_384,
  });
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await listening.drain({ graceMs: 1_000 });
      await listening[Symbol.asyncDispose]();
    },
  };
}
