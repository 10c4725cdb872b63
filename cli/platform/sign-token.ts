import type { DataDirectory } from '#contracts/data-directory';
import { mintToken } from '#identity/mint-token';
import { SigningKeysError, TooManyKeysError } from '#identity/signing-keys';
import { CliError } from '../errors/cli-error.ts';
import { firstSubject } from './administrators.ts';
import { developmentIssuer } from './development-issuer.ts';
import type { RunningPlatform } from './running-platform.ts';

/** Signs a platform token. @throws CliError usage if no administrator belongs to the development issuer */
export function firstAdministratorOf({ status }: RunningPlatform): string {
  const subject = firstSubject(status.administrators ?? []);
  if (subject !== undefined) return subject;
  throw new CliError('usage', 'No administrator belongs to the development issuer: name a subject with --subject.');
}

/** @throws CliError failed if the signing keys cannot be read */
export async function signToken(
  data: DataDirectory,
  about: { readonly subject: string; readonly audience: string; readonly ttlSeconds: number },
): Promise<string> {
  return orKeyError(() => mintToken({ ...about, keyFile: data.signingKeys, issuer: developmentIssuer.issuer }));
}

/** Turns an error of the signing keys into a CliError. */
export async function orKeyError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof SigningKeysError || cause instanceof TooManyKeysError)) throw cause;
    throw new CliError('failed', `${cause.message}.`, { cause });
  }
}
