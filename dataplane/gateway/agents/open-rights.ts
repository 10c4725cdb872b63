import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { openRelations, type RelationsChoice } from '#relations/adapters/open-relations';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { connectSql, passwordFrom } from '#sql/connect';

export type RightsConfig = {
  readonly databaseUrl: string;
  readonly databasePasswordFile: string;
  readonly relations: RelationsChoice;
  readonly openFgaTokenFile: string | undefined;
};

const retryMs = 1_000;

/**
 * The rights on agents. It opens in the background: models are served without them, and until then every question throws
 * RelationsUnavailableError.
 */
export function openAgentRights(
  config: RightsConfig,
  logger: Pick<Logger, 'info' | 'warn'>,
): AsyncDisposable & Pick<Relations, 'check'> {
  const stop = new AbortController();
  const database = connectSql({
    url: config.databaseUrl,
    applicationName: 'portcullis-gateway',
    password: passwordFrom(config.databasePasswordFile),
    statementTimeoutMs: 2_000,
  });
  let opened: Relations | undefined;

  async function open(): Promise<void> {
    for (let isReported = false; !stop.signal.aborted; isReported = true) {
      try {
        opened = await openRelations(config.relations, database, config.openFgaTokenFile);
        return logger.info('rights_open');
      } catch (error) {
        if (!isReported) logger.warn('rights_away', { code: error instanceof Error ? error.name : 'unexpected' });
        await wait(retryMs, stop.signal);
      }
    }
  }

  const opening = open();
  return {
    async check(...question) {
      if (opened === undefined) throw new RelationsUnavailableError();
      return await opened.check(...question);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await opened?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
