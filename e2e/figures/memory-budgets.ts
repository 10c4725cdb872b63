import { countTokens } from '#models/count-tokens';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { type OpenedMemory, startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: { memories: 60, budgets: 100 }, full: { memories: 400, budgets: 2_000 } } as const;
const words = ['tea', 'boat', 'bicycle', 'garden', 'chess', 'violin', 'harbour', 'winter', 'bread', 'ledger'];
const mostFound = 100;
const pageOfAdds = 20;
const agents = ['tutor', 'planner', 'reader'] as const;

type Found = { readonly id: string; readonly memory: string };
type Stored = { readonly id: string; readonly text: string; readonly tokens: number; readonly agent: string };
const modes = ['hybrid', 'semantic', 'bm25'] as const;

export const figure: Figure = {
  name: 'memory-budgets',
  title:
    'random token budgets of searches by all modes, with and without a filter, over the memories of a person: none exceeded, and no omitted one that ' +
    'matches would still fit unless top_k is reached',
  run: async (size) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { memories, budgets } = sizes[size];
    await using server = await startTestServer();
    const database = await server.createDatabase();
    await using memory = await startMemory(database);
    const random = randomFrom(11);
    const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const caller = { user: 'ann' };
    const newText = (at: number): string => {
      const length = 1 + Math.floor(random() ** 3 * 120);
      return `${at} ${Array.from({ length }, () => oneOf(words)).join(' ')}`;
    };
    const messages = Array.from({ length: memories }, (_, at) => ({ role: 'user', content: newText(at) }));
    for (let at = 0; at < memories; at += pageOfAdds) {
      const agent_id = agents[(at / pageOfAdds) % agents.length];
      await memory.add(caller, { agent_id, infer: false, messages: messages.slice(at, at + pageOfAdds) });
    }
    const search = async (body: object) => {
      const { status, json } = await memory.call(caller, 'POST', '/v1/memories/search', body);
      if (status !== 200) throw new Error(`the search was answered ${status}: ${JSON.stringify(json)}`);
      return { results: json['results'] as readonly Found[], tokens: Number(json['tokens_returned']) };
    };
    const added = await allMemories(memory, caller);
    if (added.length !== memories) throw new Error(`${added.length} of ${memories} memories are stored`);
    // The number of tokens follows the text of a changed memory.
    const changed = added.filter((_, at) => at % 3 === 0);
    for (const [at, { id }] of changed.entries()) {
      const body = { text: newText(memories + at) };
      const { status, json } = await memory.call(caller, 'PUT', `/v1/memories/${id}`, body);
      if (status !== 200) throw new Error(`the change was answered ${status}: ${JSON.stringify(json)}`);
    }
    const rows = await allMemories(memory, caller);
    const agentOf = new Map(rows.map(({ id, agent }) => [id, agent]));
    let exceeded = 0;
    let unfilled = 0;
    /** Searches that top_k ended and not the budget. */
    let full = 0;
    for (let at = 0; at < budgets; at += 1) {
      const budget = 1 + Math.floor(random() ** 2 * 2_000);
      const [mode, query] = [modes[at % modes.length], oneOf(words)];
      const topK = random() < 0.5 ? mostFound : 1 + Math.floor(random() * mostFound);
      const agent = random() < 0.5 ? undefined : oneOf(agents);
      const filters = agent === undefined ? {} : { agent_id: agent };
      const { results, tokens } = await search({ mode, query, top_k: topK, token_budget: budget, filters });
      const sum = results.reduce((total, one) => total + countTokens(one.memory), 0);
      const others = results.filter(({ id }) => (agent ?? agentOf.get(id)) !== agentOf.get(id));
      if (tokens > budget || sum !== tokens || results.length > topK || others.length > 0) exceeded += 1;
      const returned = new Set(results.map(({ id }) => id));
      // A search by words finds the memories that contain the word; the other searches find all.
      const omitted = rows.filter(
        ({ id, text, agent: own }) =>
          !returned.has(id) && (mode !== 'bm25' || text.split(' ').includes(query)) && (agent ?? own) === own,
      );
      const smallest = Math.min(...omitted.map((one) => one.tokens));
      if (results.length === topK) full += 1;
      else if (tokens + smallest <= budget) unfilled += 1;
    }
    return {
      // Searches that end at top_k do not show how many memories would fit.
      holds: exceeded === 0 && unfilled === 0 && full < budgets / 2,
      line:
        `${budgets} budgets by ${modes.length} modes over ${memories} memories, ${changed.length} of them changed: ${exceeded} exceeded, ${unfilled} of ` +
        `${budgets - full} in which an omitted memory fits; ${full} ended at top_k`,
    };
  },
};

/** Every memory of the caller, read from the table, with the number of tokens of its text, which is counted here. */
async function allMemories(memory: OpenedMemory, caller: { readonly user: string }): Promise<readonly Stored[]> {
  const rows = await memory.database.database.sql<Omit<Stored, 'tokens'>[]>`
    select m.memory_id as id, m.text, m.agent_id as agent from memory.memories m join memory.people p using (person)
    where p.user_key like ${`%"${caller.user}"]`} and m.deleted_at is null order by m.memory_id`;
  return rows.map((row) => ({ ...row, tokens: countTokens(row.text) }));
}
