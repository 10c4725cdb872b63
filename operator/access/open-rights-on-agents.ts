import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { openRelations, type RelationsChoice } from '#relations/adapters/open-relations';
import { type Relations, RelationsUnavailableError, relationLimits } from '#relations/ports';
import type { Tuple } from '#relations/tuple';
import { connectSql, passwordFrom } from '#sql/connect';
import type { AgentRights } from './ports.ts';

export type AgentRightsConfig = {
  readonly databaseUrl: string;
  readonly databasePasswordFile: string;
  readonly relations: RelationsChoice;
  readonly openFgaTokenFile: string | undefined;
};

const retryMs = 1_000;

/**
 * The rights on agents in the store of relations of the installation. It opens in the background, because the operator
 * serves the resources that others start from; until then every answer is `away`.
 */
export function openRightsOnAgents(config: AgentRightsConfig, logger: Pick<Logger, 'info' | 'warn'>): AgentRights {
  const stop = new AbortController();
  const database = connectSql({
    url: config.databaseUrl,
    applicationName: 'portcullis-operator',
    password: passwordFrom(config.databasePasswordFile),
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
    async settle(object, tuples) {
      if (opened === undefined) return 'away';
      try {
        await settleTuples(opened, object, tuples);
        return 'consistent';
      } catch (error) {
        if (error instanceof RelationsUnavailableError) return 'away';
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await opening;
      await opened?.[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/**
 * Makes the tuples of an object exactly these: first revokes, then grants, so that a crash between the two leaves fewer
 * rights.
 */
async function settleTuples(
  relations: Pick<Relations, 'tuplesOf' | 'grant' | 'revoke'>,
  object: string,
  wanted: readonly Tuple[],
): Promise<void> {
  const stored = await relations.tuplesOf(object);
  for (const part of parts(without(stored, wanted))) await relations.revoke(part);
  for (const part of parts(without(wanted, stored))) await relations.grant(part);
}

function without(tuples: readonly Tuple[], others: readonly Tuple[]): readonly Tuple[] {
  const keyOf = ({ relation, subject }: Tuple): string => `${relation} ${subject}`;
  const known = new Set(others.map(keyOf));
  return tuples.filter((tuple) => !known.has(keyOf(tuple)));
}

function parts(tuples: readonly Tuple[]): readonly (readonly Tuple[])[] {
  const count = Math.ceil(tuples.length / relationLimits.tuples);
  return Array.from({ length: count }, (_one, at) =>
    tuples.slice(at * relationLimits.tuples, (at + 1) * relationLimits.tuples),
  );
}
