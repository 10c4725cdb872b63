import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { type OpenedMemory, startMemory } from '../../dataplane/memory/testing/start-memory.ts';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: { memories: 60, budgets: 100 }, full: { memories: 400, budgets: 2_000 } } as const;
const words = ['tea', 'boat', 'bicycle', 'garden', 'chess', 'violin', 'harbour', 'winter', 'bread', 'ledger'];
const topK = 100;

type Found = { readonly id: string; readonly tokens: number };

export const figure: Figure = {
  name: 'memory-budgets',
  title:
    'random token budgets of searches over the memories of a person: none exceeded, and no omitted one would still fit',
  run: async (size) => {
    if (missingPostgres !== undefined) return { skipped: missingPostgres };
    const { memories, budgets } = sizes[size];
    await using server = await startTestServer();
    const database = await server.createDatabase();
    await using memory = await startMemory(database);
    const random = randomFrom(11);
    const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const caller = { user: 'ann' };
    const messages = Array.from({ length: memories }, (_, at) => {
      const length = 1 + Math.floor(random() ** 3 * 120);
      return { role: 'user', content: `${at} ${Array.from({ length }, () => oneOf(words)).join(' ')}` };
    });
    for (let at = 0; at < memories; at += 100) {
      await memory.add(caller, { agent_id: 'tutor', infer: false, messages: messages.slice(at, at + 100) });
    }
    const search = async (body: object) => {
      const { status, json } = await memory.call(caller, 'POST', '/v1/memories/search', body);
      if (status !== 200) throw new Error(`the search was answered ${status}: ${JSON.stringify(json)}`);
      return { results: json['results'] as readonly Found[], tokens: Number(json['tokens_returned']) };
    };
    const { rows } = await allTokens(memory, caller);
    let exceeded = 0;
    let unfilled = 0;
    for (let at = 0; at < budgets; at += 1) {
      const budget = 1 + Math.floor(random() ** 2 * 2_000);
      const { results, tokens } = await search({ query: oneOf(words), top_k: topK, token_budget: budget });
      const sum = results.reduce((total, one) => total + one.tokens, 0);
      if (tokens > budget || sum !== tokens) exceeded += 1;
      const returned = new Set(results.map(({ id }) => id));
      const smallest = Math.min(...rows.filter(({ id }) => !returned.has(id)).map((one) => one.tokens));
      if (results.length < topK && tokens + smallest <= budget) unfilled += 1;
    }
    return {
      holds: exceeded === 0 && unfilled === 0,
      line: `${budgets} budgets over ${memories} memories: ${exceeded} exceeded, ${unfilled} in which an omitted memory fits`,
    };
  },
};

/** Every memory of the caller with its token count, read from the table. */
async function allTokens(memory: OpenedMemory, caller: { readonly user: string }) {
  const rows = await memory.database.database.sql<Found[]>`
    select m.memory_id as id, m.tokens from memory.memories m join memory.people p using (person)
    where p.user_key like ${`%"${caller.user}"]`} and m.deleted_at is null`;
  return { rows };
}
