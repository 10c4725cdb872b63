import type { Tuple } from '#relations/tuple';

/**
 * `away`: the store of relations did not answer, so that nothing is known. `refused`: the store was not asked, because
 * its tables belong to another release.
 */
type RightsOutcome = 'consistent' | 'away' | 'refused';

/** The rights on agents that resources declare, in the store of relations. */
export type AgentRights = AsyncDisposable & {
  /**
   * Changes the tuples of an object to exactly the given ones. Lost rights are revoked before new rights are granted.
   * Repeating the call changes nothing.
   * @throws NotLeaderError before a change that this process may not make
   */
  settle(object: string, tuples: readonly Tuple[]): Promise<RightsOutcome>;
};
