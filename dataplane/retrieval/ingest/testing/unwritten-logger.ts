import { createLogger } from '#kit/log/logger';

/** A logger without a destination. */
export const unwrittenLogger = createLogger({
  service: 'retrieval',
  level: 'error',
  destination: { write: () => undefined },
});
