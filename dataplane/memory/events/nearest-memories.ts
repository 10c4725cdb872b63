import { embedAll } from '#models/embed-all';
import type { ModelCall } from '#models/ports';
import type { AttributeCondition } from '#search/condition';
import { type MemorySearchPorts, searchMemories } from '../search/search-memories.ts';
import type { ClaimedEvent } from './claim-event.ts';
import { nearestQueries } from './nearest-queries.ts';

/** Maximum number of memories that one query returns. */
const mostOfQuery = 10;

/**
 * Embeds the queries of messages and returns a search for the ids of the memories of a scope that are nearest to them:
 * first the nearest memory of each query, then the second nearest of each, and so on. The search may be repeated.
 */
export function nearestMemories(ports: MemorySearchPorts) {
  return async (
    { person, agentId, runId }: ClaimedEvent,
    messages: readonly string[],
    call: ModelCall,
  ): Promise<() => Promise<readonly string[]>> => {
    const texts = nearestQueries(messages);
    const profile = ports.profile();
    const vectors = profile === undefined ? [] : await embedAll(ports.models, { profile, use: 'query', texts }, call);
    const condition: AttributeCondition = { and: [...exactly('agent_id', agentId), ...exactly('run_id', runId)] };
    return async () => {
      const [row] = await ports.database.sql<{ changeNo: string }[]>`
        select change_no as "changeNo" from memory.people where person = ${person}`;
      if (row === undefined) return [];
      const found: (readonly string[])[] = [];
      // The queries run one after another, so that an add does not delay other searches of the index.
      for (const [at, query] of texts.entries()) {
        const { results } = await searchMemories(ports, {
          person: { person, changeNo: row.changeNo },
          userId: '',
          request: { query, mode: 'hybrid', top_k: mostOfQuery },
          embedded: { profile, vector: vectors[at] },
          condition,
          call,
        });
        found.push(results.map(({ id }) => id));
      }
      const byRank = Array.from({ length: mostOfQuery }, (_, rank) => found.flatMap((ids) => ids[rank] ?? []));
      return [...new Set(byRank.flat())];
    };
  };
}

function exactly(path: 'agent_id' | 'run_id', value: string | null): readonly AttributeCondition[] {
  return [value === null ? { not: { path: 'present', op: 'eq', value: path } } : { path, op: 'eq', value }];
}
