import type { ProviderCause } from '#contracts/provider-causes';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';

/**
 * Shortest time between two log lines about one provider, so that a provider that fails occasionally does not fill the
 * log.
 */
const logEveryMs = 10_000;

type Logged = { cause: ProviderCause | undefined; at: number };

/** Notes the outcome of each call to the provider of this name: a failure is counted, a change is logged. */
export function recordProvider(
  provider: string,
  {
    clock,
    logger,
    count,
  }: {
    readonly clock: Pick<Clock, 'now'>;
    readonly logger: Pick<Logger, 'info' | 'warn'>;
    readonly count: (provider: string, cause: ProviderCause) => void;
  },
): (cause: ProviderCause | undefined) => void {
  const logged: Logged = { cause: undefined, at: Number.NEGATIVE_INFINITY };
  return (cause) => {
    if (cause !== undefined) count(provider, cause);
    if (cause === logged.cause || clock.now() - logged.at < logEveryMs) return;
    logged.cause = cause;
    logged.at = clock.now();
    if (cause === undefined) logger.info('check_provider_recovered', { provider });
    else logger.warn('check_provider_failing', { provider, cause });
  };
}
