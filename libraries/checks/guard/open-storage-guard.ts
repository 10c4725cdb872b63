import { openTokenFile } from '#kit/http/token-file';
import type { Logger } from '#kit/log/logger';
import { createCheckClient } from '../client.ts';
import { followServedTarget } from '../served-target.ts';
import { createStorageGuard, type StorageGuard } from './storage-guard.ts';

type OpenGuardOptions = {
  /** The target of a served policy, which the operator writes. */
  readonly targetFile: string;
  /** The token of the runtimes. */
  readonly tokenFile: string;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  /** Receives whether the newest change of the target was refused. */
  readonly onRefused: (isRefused: boolean) => void;
  readonly everyMs?: number;
};

/**
 * A guard of texts that follows the target of its served policy. A failure names the detector or classifier that
 * returned no judgement.
 * @throws ConfigError when the target cannot be used at the start, TokenFileError when the token cannot be used at the
 * start
 */
export async function openStorageGuard(options: OpenGuardOptions): Promise<StorageGuard & AsyncDisposable> {
  const { targetFile, tokenFile, logger, everyMs } = options;
  await using parts = new AsyncDisposableStack();
  const checks = parts.use(createCheckClient({ tokenFile: openTokenFile(tokenFile), explain: true }));
  const target = parts.use(
    await followServedTarget({
      path: targetFile,
      onTaken({ policyId, policyRevision }) {
        options.onRefused(false);
        logger.info('guard_target_loaded', { policyId, policyRevision });
      },
      onRefused(problems) {
        options.onRefused(true);
        for (const problem of problems) logger.error('guard_target_refused', { problem });
      },
      ...(everyMs === undefined ? {} : { everyMs }),
    }),
  );
  const guard = createStorageGuard({ checks, target: target.current });
  const owned = parts.move();
  return { ...guard, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
