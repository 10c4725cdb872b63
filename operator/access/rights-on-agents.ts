import { assertWritesAllowed } from '#kube/election/fenced-client';
import type { AwaitedRelations } from '#relations/adapters/await-relations';
import { type Relations, RelationsUnavailableError, relationLimits } from '#relations/ports';
import type { Tuple } from '#relations/tuple';
import type { AgentRights } from './ports.ts';

/**
 * The rights on agents in the relations of the installation. Disposing the object closes the relations.
 * @param writesAllowed called before each change, because another process may have become the leader since the previous
 * change
 */
export function rightsOnAgents(relations: AwaitedRelations, writesAllowed: () => boolean): AgentRights {
  return {
    async settle(object, tuples) {
      try {
        await settleTuples(relations.now(), { object, wanted: tuples, writesAllowed });
        return 'consistent';
      } catch (error) {
        if (error instanceof RelationsUnavailableError) return relations.state() === 'refused' ? 'refused' : 'away';
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await relations[Symbol.asyncDispose]();
    },
  };
}

/**
 * Makes the tuples of an object exactly these: first revokes, then grants, so that a crash between the two leaves fewer
 * rights.
 */
async function settleTuples(
  relations: Pick<Relations, 'tuplesOf' | 'grant' | 'revoke'>,
  {
    object,
    wanted,
    writesAllowed,
  }: { readonly object: string; readonly wanted: readonly Tuple[]; readonly writesAllowed: () => boolean },
): Promise<void> {
  const stored = await relations.tuplesOf(object);
  for (const part of parts(without(stored, wanted))) {
    assertWritesAllowed(writesAllowed);
    await relations.revoke(part);
  }
  for (const part of parts(without(wanted, stored))) {
    assertWritesAllowed(writesAllowed);
    await relations.grant(part);
  }
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
