import type { Logger } from '#kit/log/logger';
import { type Clock, systemClock } from '#kit/time/clock';
import { createVerifier, type TrustedIssuer, type Verifier } from './create-verifier.ts';
import { readIssuersFile } from './issuers-file.ts';

export type VerifierParts = {
  readonly logger: Pick<Logger, 'warn'>;
  /** The keys of an issuer could not be fetched. */
  readonly onUnavailable: (issuer: string) => void;
  readonly clock?: Clock;
};

/** Verifies tokens of the issuers of a file. @throws ConfigError if the file cannot be used */
export async function openIssuersVerifier(
  file: string,
  { logger, onUnavailable, clock = systemClock }: VerifierParts,
): Promise<{ readonly verifier: Verifier; readonly issuers: readonly TrustedIssuer[] }> {
  const issuers = await readIssuersFile(file);
  if (issuers.length === 0) logger.warn('no_issuer_trusted', { file });
  const verifier = createVerifier({
    issuers,
    clock,
    onUnavailable(issuer, _error, traceId) {
      logger.warn('keys_unavailable', { issuer, traceId });
      onUnavailable(issuer);
    },
  });
  return { verifier, issuers };
}
