import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { AuditLog } from './ports.ts';

const everyMs = 3_600_000;
const dayMs = 86_400_000;

/** Removes entries after their retention period, at the start and every hour. It may run in any number of replicas. */
export function startRetention(
  log: Pick<AuditLog, 'retain'>,
  options: { readonly days: number; readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const { days, clock, logger } = options;
  let running: Promise<void> = Promise.resolve();

  async function remove(): Promise<void> {
    try {
      const now = clock.date();
      const removed = await log.retain(new Date(now.getTime() - days * dayMs), now);
      if (removed > 0) logger.info('audit_retained', { removed });
    } catch (error) {
      logger.warn('audit_retention_failed', { failure: describeFailure(error) });
    }
  }

  const next = (): void => {
    running = running.then(remove);
  };
  next();
  const timer = setInterval(next, everyMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
