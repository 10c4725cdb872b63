import type { Logger } from '#kit/log/logger';
import { connectSql, passwordFrom } from '#sql/connect';
import { type OpeningState, openRepeatedly } from '#sql/open-repeatedly';
import { type Relations, RelationsUnavailableError } from '../ports.ts';
import { openRelations, type RelationsChoice } from './open-relations.ts';

/** The location of the relations of an installation. */
export type RelationsAccess = {
  readonly databaseUrl: string;
  readonly databasePasswordFile: string;
  readonly relations: RelationsChoice;
  readonly openFgaTokenFile: string | undefined;
};

type Session = {
  readonly applicationName: string;
  /** Timeout of a statement, milliseconds; by default that of `connectSql`. */
  readonly statementTimeoutMs?: number;
  /** Maximum number of connections to the database; by default that of `connectSql`. */
  readonly max?: number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called after each change of the state. */
  readonly onChange?: () => void;
};

/** Relations that may not be open yet. */
export type AwaitedRelations = AsyncDisposable & {
  /** The open relations. @throws RelationsUnavailableError until the store was reached for the first time */
  now(): Relations;
  /** `refused`: the tables of the store belong to another release. */
  state(): OpeningState;
};

/**
 * Opens the relations in the background, for a process that also serves requests without relations. An attempt is made
 * each second until the store answers; `relation_store_unavailable` is logged once, and then
 * `relation_store_available`. Tables of another release do not count as an outage: `relation_store_refused` names the
 * file. Disposing closes the store and the connections.
 */
export function awaitRelations(access: RelationsAccess, { logger, onChange, ...session }: Session): AwaitedRelations {
  const stop = new AbortController();
  const { databaseUrl: url, databasePasswordFile } = access;
  const database = connectSql({ url, password: passwordFrom(databasePasswordFile), ...session });
  let opened: Relations | undefined;
  let state: OpeningState = 'unknown';

  async function open(): Promise<void> {
    opened = await openRelations(access.relations, database, access.openFgaTokenFile);
    logger.info('relation_store_available');
    move('open');
  }

  function move(next: OpeningState): void {
    state = next;
    onChange?.();
  }

  const opening = openRepeatedly(open, {
    signal: stop.signal,
    onFailure(failure) {
      if (failure.state === 'away') logger.warn('relation_store_unavailable', { code: failure.code });
      else logger.error('relation_store_refused', { fault: failure.fault, problem: failure.problem });
      move(failure.state);
    },
  });
  return {
    now() {
      if (opened === undefined) throw new RelationsUnavailableError();
      return opened;
    },
    state: () => state,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await opened?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
