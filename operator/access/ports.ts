import type { Tuple } from '#relations/tuple';

/** `away`: the store of relations did not answer, so nothing is known. */
type RightsOutcome = 'consistent' | 'away';

/** The rights on agents that resources declare, in the store of relations. */
export type AgentRights = AsyncDisposable & {
  /**
   * Makes the tuples of an object exactly these. A right that is lost is revoked before one is granted. Repeating it
   * changes nothing.
   */
  settle(object: string, tuples: readonly Tuple[]): Promise<RightsOutcome>;
};
