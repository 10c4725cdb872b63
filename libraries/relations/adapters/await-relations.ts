import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { connectSql, passwordFrom } from '#sql/connect';
import { type Relations, RelationsUnavailableError } from '../ports.ts';
import { openRelations, type RelationsChoice } from './open-relations.ts';

/** Where a process finds the relations of its installation. */
export type RelationsAccess = {
  readonly databaseUrl: string;
  readonly databasePasswordFile: string;
  readonly relations: RelationsChoice;
  readonly openFgaTokenFile: string | undefined;
};

type Session = {
  readonly applicationName: string;
  /** Milliseconds; that of `connectSql` by default. */
  readonly statementTimeoutMs?: number;
  /** Maximum number of connections to the database; that of `connectSql` by default. */
  readonly max?: number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

/** Relations that may not be open yet. */
export type AwaitedRelations = AsyncDisposable & {
  /** The open relations. @throws RelationsUnavailableError until the store was reached for the first time */
  now(): Relations;
};

const retryMs = 1_000;

/**
 * Opens the relations in the background, for a process that also serves requests without relations. It tries each
 * second until the store answers, and logs `relation_store_unavailable` once and then `relation_store_available`.
 * Disposing closes the store and the connections.
 */
export function awaitRelations(access: RelationsAccess, { logger, ...session }: Session): AwaitedRelations {
  const stop = new AbortController();
  const { databaseUrl: url, databasePasswordFile } = access;
  const database = connectSql({ url, password: passwordFrom(databasePasswordFile), ...session });
  let opened: Relations | undefined;

  async function open(): Promise<void> {
    for (let isReported = false; !stop.signal.aborted; isReported = true) {
      try {
        opened = await openRelations(access.relations, database, access.openFgaTokenFile);
        return logger.info('relation_store_available');
      } catch (error) {
        if (!isReported)
          logger.warn('relation_store_unavailable', { code: error instanceof Error ? error.name : 'unexpected' });
        await wait(retryMs, stop.signal);
      }
    }
  }

  const opening = open();
  return {
    now() {
      if (opened === undefined) throw new RelationsUnavailableError();
      return opened;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await opened?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
