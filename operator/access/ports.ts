import type { Tuple } from '#relations/tuple';

/**
 * `away`: the store of relations did not answer, so that nothing is known. `refused`: nothing was asked, because the tables of
 * the store are those of another release.
 */
type RightsOutcome = 'consistent' | 'away' | 'refused';

/** The rights on agents that resources declare, in the store of relations. */
export type AgentRights = AsyncDisposable & {
  /**
   * Makes the tuples of an object exactly these. A right that is lost is revoked before one is granted. Repeating it
   * changes nothing.
   * @throws NotLeaderError before a change that this process may not make
   */
  settle(object: string, tuples: readonly Tuple[]): Promise<RightsOutcome>;
};
