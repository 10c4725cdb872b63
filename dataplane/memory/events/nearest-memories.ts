import type { AttributeCondition } from '#search/condition';
import { type MemorySearchPorts, searchMemories } from '../search/search-memories.ts';
import type { ClaimedEvent } from './claim-event.ts';

/** Longest query to the index; of a longer dialogue, only the beginning is sent. */
const longestQuery = 4_000;

/** Finds the ids of the memories of a scope that are nearest to a text. */
export function nearestMemories(ports: MemorySearchPorts) {
  return async ({ person, agentId, runId }: ClaimedEvent, text: string, most: number): Promise<readonly string[]> => {
    const [row] = await ports.database.sql<{ changeNo: string }[]>`
      select change_no as "changeNo" from memory.people where person = ${person}`;
    if (row === undefined) return [];
    const condition: AttributeCondition = { and: [...exactly('agent_id', agentId), ...exactly('run_id', runId)] };
    const { results } = await searchMemories(ports, {
      person: { person, changeNo: row.changeNo },
      userId: '',
      request: { query: beginningOf(text), mode: 'hybrid', top_k: most },
      condition,
      call: {},
    });
    return results.map(({ id }) => id);
  };
}

/** The gateway refuses a text that ends with half of a surrogate pair. */
function beginningOf(text: string): string {
  const beginning = text.slice(0, longestQuery);
  return beginning.isWellFormed() ? beginning : beginning.slice(0, -1);
}

function exactly(path: 'agent_id' | 'run_id', value: string | null): readonly AttributeCondition[] {
  return [value === null ? { not: { path: 'present', op: 'eq', value: path } } : { path, op: 'eq', value }];
}
