import { openTokenFile, type TokenFile, TokenFileError } from '#kit/http/token-file';

type CredentialCause = 'credential_missing' | 'credential_unreadable';

/** A provider credential, or the reason why there is none. */
export type CredentialReading =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly cause: CredentialCause };

/** Reads the credential of a file once. */
export function readCredentialFile(path: string): CredentialReading {
  return readCredential(() => openTokenFile(path));
}

/** Reads a credential. A missing file is distinguished from a file that cannot be used. */
export function readCredential(open: () => Pick<TokenFile, 'first'>): CredentialReading {
  try {
    return { ok: true, token: open().first() };
  } catch (error) {
    return { ok: false, cause: isMissing(error) ? 'credential_missing' : 'credential_unreadable' };
  }
}

function isMissing(error: unknown): boolean {
  const cause = error instanceof TokenFileError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR');
}
