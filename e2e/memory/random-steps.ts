import { until } from '#kit/testing/until';
import { countTokens } from '#models/count-tokens';
import type { OpenedMemory } from '../../dataplane/memory/testing/start-memory.ts';
import { randomFrom } from '../support/random-from.ts';

type Entry = readonly [event: string, before: string | null, after: string | null];
type Kept = {
  readonly id: string;
  text: string;
  readonly agent: string;
  readonly run: string | null;
  /** Whether a later statement of the same scope about the home replaces the text. */
  isHome: boolean;
  state: 'live' | 'deleted' | 'expired';
  metadata: { readonly n?: number };
  readonly categories: readonly string[];
  readonly history: Entry[];
};
type Person = {
  readonly caller: { readonly user: string };
  kept: Kept[];
  /** Session states by id. */
  readonly sessions: Map<string, number>;
  events: number;
};

type StepReport = {
  readonly counts: Readonly<Record<string, number>>;
  readonly differences: readonly string[];
  /** Whether a worker packed the memories of the first person because of their number. */
  readonly wasPacked: boolean;
  /** Whether the first person was erased with packed memories. */
  readonly isErasedPacked: boolean;
};

const words = ['tea', 'boat', 'bicycle', 'garden', 'chess', 'violin'];
const agents = ['tutor', 'coach'];
const runs = [null, 'r1', 'r2'];
const sessionIds = ['s1', 's2', 's3'];
const names = ['a', 'b', 'c', 'd', 'e'];
const modes = ['hybrid', 'semantic', 'bm25'] as const;
const mostFound = 100;
/** Steps between two checks for packed memories. */
const stepsOfLook = 10;
const kinds = ['work', 'home', 'trip'];
/** The weight of each step, relative to the sum of all weights. */
const weights = {
  ...{ add: 8, state: 6, change: 4, delete: 3, deleteForeign: 1, deleteScope: 1, expire: 3, addExpired: 1, erase: 0.5 },
  ...{ setSession: 2, getSession: 2, expireSession: 1, history: 3, get: 2, export: 0.5 },
};
type StepName = keyof typeof weights;

/**
 * Runs random steps of several persons through the replicas, one after another, and applies them to lists in memory.
 * After each step the service's list and search for one person must agree with the list in memory.
 */
export async function takeRandomSteps(
  replicas: readonly OpenedMemory[],
  { seed, steps, say }: { readonly seed: number; readonly steps: number; readonly say: (progress: string) => void },
): Promise<StepReport> {
  const random = randomFrom(seed);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const replica = (): OpenedMemory => oneOf(replicas);
  const { sql } = (replicas[0] as OpenedMemory).database.database;
  const people = names.map(
    (name): Person => ({ caller: { user: `${name}-${seed}` }, kept: [], sessions: new Map(), events: 0 }),
  );
  const differences: string[] = [];
  const counts: Record<string, number> = {};
  let step = 0;
  let texts = 0;
  let wasPacked = false;
  let isErasedPacked = false;

  const newText = (): string => {
    texts += 1;
    return `${oneOf(words)} number ${texts}`;
  };
  const live = ({ kept }: Person): readonly Kept[] => kept.filter(({ state }) => state === 'live');
  const compare = (what: string, actual: unknown, expected: unknown): void => {
    if (JSON.stringify(actual) === JSON.stringify(expected)) return;
    differences.push(`step ${step}, ${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  };
  const remember = (
    person: Person,
    memory: Omit<Kept, 'history' | 'metadata' | 'categories'> & Partial<Kept>,
  ): void => {
    person.kept.push({ metadata: {}, categories: [], ...memory, history: [['ADD', null, memory.text]] });
  };
  const add = async (person: Person, text: string, more: object): Promise<readonly string[]> => {
    person.events += 1;
    const event = await replica().add(person.caller, { messages: [{ role: 'user', content: text }], ...more });
    compare('the event', event['status'], 'SUCCEEDED');
    return event['memory_ids'] as readonly string[];
  };
  const scopeOf = (agent: string, run: string | null): object => ({
    agent_id: agent,
    ...(run === null ? {} : { run_id: run }),
  });

  const taken: Record<StepName, (person: Person) => Promise<void>> = {
    async add(person) {
      const [text, agent, run] = [newText(), oneOf(agents), oneOf(runs)];
      const [metadata, categories] = [{ n: texts % 10 }, [oneOf(kinds)]];
      const until = random() < 0.3 ? { expires_at: '2999-01-01T00:00:00Z' } : {};
      const more = { ...scopeOf(agent, run), ...until, metadata, categories, infer: false };
      const [id = ''] = await add(person, text, more);
      remember(person, { id, text, agent, run, metadata, categories, isHome: false, state: 'live' });
    },
    async state(person) {
      texts += 1;
      const [text, agent, run] = [`I live in City${texts}`, oneOf(agents), oneOf(runs)];
      const home = live(person).find((one) => one.isHome && one.agent === agent && one.run === run);
      const [id = ''] = await add(person, `${text}.`, scopeOf(agent, run));
      if (home === undefined) return remember(person, { id, text, agent, run, isHome: true, state: 'live' });
      compare('the memory that a statement replaces', id, home.id);
      home.history.push(['UPDATE', home.text, text]);
      home.text = text;
    },
    async change(person) {
      const memory = oneOf(live(person));
      if (memory === undefined) return;
      const text = newText();
      // Metadata that a change does not name stays.
      const metadata = random() < 0.5 ? { n: texts % 10 } : memory.metadata;
      const body = metadata === memory.metadata ? { text } : { text, metadata };
      const { status, json } = await replica().call(person.caller, 'PUT', `/v1/memories/${memory.id}`, body);
      compare('a change', [status, json['memory'], json['metadata']], [200, text, metadata]);
      memory.metadata = metadata;
      memory.history.push(['UPDATE', memory.text, text]);
      Object.assign(memory, { text, isHome: false });
    },
    async delete(person) {
      const memory = oneOf(person.kept);
      if (memory === undefined) return;
      const { status } = await replica().call(person.caller, 'DELETE', `/v1/memories/${memory.id}`);
      compare('a deletion', status, memory.state === 'live' ? 200 : 404);
      if (memory.state !== 'live') return;
      memory.history.push(['DELETE', memory.text, null]);
      memory.state = 'deleted';
    },
    async deleteForeign(person) {
      const memory = oneOf(people.filter((one) => one !== person).flatMap((one) => live(one)));
      if (memory === undefined) return;
      const { status } = await replica().call(person.caller, 'DELETE', `/v1/memories/${memory.id}`);
      compare('a deletion of a memory of another person', status, 404);
    },
    async deleteScope(person) {
      const [agent, run] = [oneOf(agents), oneOf(runs)];
      const query = `agent_id=${agent}${run === null ? '' : `&run_id=${run}`}`;
      const { json } = await replica().call(person.caller, 'DELETE', `/v1/memories?${query}`);
      const isLeft = (one: Kept): boolean => one.agent !== agent || (run !== null && one.run !== run);
      compare('a deletion by filter', json['deleted_count'], live(person).filter((one) => !isLeft(one)).length);
      person.kept = person.kept.filter(isLeft);
    },
    async expire(person) {
      const memory = oneOf(live(person));
      if (memory === undefined) return;
      await sql`update memory.memories set expires_at = clock_timestamp() where memory_id = ${memory.id}`;
      memory.state = 'expired';
    },
    async addExpired(person) {
      const [text, agent, run] = [newText(), oneOf(agents), oneOf(runs)];
      const more = { ...scopeOf(agent, run), infer: false, expires_at: '2020-01-01T00:00:00Z' };
      const [id = ''] = await add(person, text, more);
      remember(person, { id, text, agent, run, isHome: false, state: 'expired' });
    },
    // The memories of the first person become so many that they are packed.
    erase: (person) => erase(person === people[0] ? (people[1] as Person) : person),
    async setSession(person) {
      texts += 1;
      const [session, state] = [oneOf(sessionIds), texts];
      const body = { state: { state }, ttl_seconds: 3_600 };
      const { status } = await replica().call(person.caller, 'POST', `/v1/sessions/${session}/state`, body);
      compare('a state of a session that is set', status, 200);
      person.sessions.set(session, state);
    },
    async getSession(person) {
      const session = oneOf(sessionIds);
      const { status, json } = await replica().call(person.caller, 'GET', `/v1/sessions/${session}/state`);
      const state = person.sessions.get(session);
      compare('a session', [status, json['state']], state === undefined ? [404, undefined] : [200, { state }]);
    },
    async expireSession(person) {
      const session = oneOf(sessionIds);
      await sql`
        update memory.sessions s set expires_at = clock_timestamp() from memory.people p
        where p.person = s.person and p.user_key like ${`%"${person.caller.user}"]`} and s.session_id = ${session}`;
      person.sessions.delete(session);
    },
    async export(person) {
      type Exported = { readonly id: string; readonly memory: string };
      const memories: Exported[] = [];
      let events = 0;
      let token: unknown = '';
      while (token !== null) {
        const page = `page_size=${1 + Math.floor(random() * 100)}${token === '' ? '' : `&page_token=${token}`}`;
        const { status, json } = await replica().call(person.caller, 'GET', `/v1/export?${page}`);
        if (status !== 200) throw new Error(`the export was answered ${status}: ${JSON.stringify(json)}`);
        memories.push(...(json['memories'] as readonly Exported[]));
        events += (json['events'] as readonly unknown[]).length;
        token = json['next_page_token'];
      }
      const texts = new Map(memories.map((one) => [one.id, one.memory]));
      for (const { id, text } of person.kept) compare('an exported memory', texts.get(id), text);
      compare('the number of exported memories', memories.length, person.kept.length);
      compare('the number of exported events', events, person.events);
    },
    async history(person) {
      const memory = oneOf(person.kept);
      if (memory !== undefined) await compareHistory(person, memory);
    },
    async get(person) {
      const memory = oneOf(people.flatMap(({ kept }) => kept));
      if (memory === undefined) return;
      const { status, json } = await replica().call(person.caller, 'GET', `/v1/memories/${memory.id}`);
      const isReadable = memory.state === 'live' && person.kept.includes(memory);
      compare('a memory', [status, json['memory']], isReadable ? [200, memory.text] : [404, undefined]);
    },
  };

  async function erase(person: Person): Promise<void> {
    const body = { user_id: person.caller.user };
    const { status, json } = await replica().call(person.caller, 'POST', '/v1/erasures', body);
    compare('an erasure', [status, json['memories'], json['events']], [200, person.kept.length, person.events]);
    Object.assign(person, { kept: [], events: 0 });
    person.sessions.clear();
  }
  const isFirst = sql`p.user_key like ${`%"${(people[0] as Person).caller.user}"]`}`;
  async function isPacked(): Promise<boolean> {
    return (await sql`select 1 from memory.segments join memory.people p using (person) where ${isFirst}`).length > 0;
  }
  async function erasePacked(): Promise<void> {
    const first = people[0] as Person;
    if (live(first).length > 0) {
      // A deletion by filter has removed the existing segments.
      await sql`insert into memory.packing select person from memory.people p where ${isFirst} on conflict do nothing`;
      await until('the memories are packed', async () => ((await isPacked()) ? true : undefined));
      isErasedPacked = true;
    }
    await erase(first);
  }
  async function historyOf(person: Person, memory: Kept): Promise<readonly Entry[]> {
    const { status, json } = await replica().call(person.caller, 'GET', `/v1/memories/${memory.id}/history`);
    if (status !== 200) return [[String(status), null, null]];
    type Answered = { readonly event: string; readonly old_memory: string | null; readonly new_memory: string | null };
    return (json as unknown as readonly Answered[]).map((one) => [one.event, one.old_memory, one.new_memory]);
  }
  async function compareHistory(person: Person, memory: Kept): Promise<void> {
    const entries = await historyOf(person, memory);
    // The worker records the expiry of a memory shortly afterwards.
    const isOver = memory.state === 'expired' && entries.length > memory.history.length;
    compare('a history', entries, isOver ? [...memory.history, ['DELETE', memory.text, null]] : memory.history);
  }
  async function compareReads(): Promise<void> {
    const [asked, agent] = [oneOf(people), oneOf(agents)];
    const expected = live(asked).filter((one) => one.agent === agent);
    const ofModel = expected.map(({ text }) => text).toSorted();
    const { json } = await replica().call(asked.caller, 'GET', `/v1/memories?agent_id=${agent}&page_size=200`);
    compare('the number of the list', json['count'], ofModel.length);
    const listed = (json['results'] as readonly { readonly memory: string }[]).map(({ memory }) => memory);
    compare('the list', listed.toSorted(), ofModel);
    const [query, mode] = [oneOf(words), oneOf(modes)];
    const more = { mode, top_k: mostFound, filters: { agent_id: agent } };
    const found = await replica().find(asked.caller, query, more);
    compareFound(`the search ${mode}`, found, ofModel.filter(isFoundBy(mode, query)));
    await compareFiltered(asked, agent);
  }
  /** A search by words finds the memories that contain the word; the other searches find all. */
  function isFoundBy(mode: (typeof modes)[number], query: string): (text: string) => boolean {
    return (text) => mode !== 'bm25' || text.split(' ').includes(query);
  }
  function compareFound(what: string, found: readonly string[], expected: readonly string[]): void {
    if (expected.length <= mostFound) compare(what, found.toSorted(), expected.toSorted());
    else compare(what, [found.length, found.every((one) => expected.includes(one))], [mostFound, true]);
  }
  async function compareFiltered(asked: Person, agent: string): Promise<void> {
    const [run, kind, n, budget] = [
      oneOf(runs),
      oneOf(kinds),
      Math.floor(random() * 10),
      1 + Math.floor(random() * 60),
    ];
    const filters: readonly (readonly [object, (one: Kept) => boolean])[] = [
      [{ NOT: [{ agent_id: agent }] }, (one) => one.agent !== agent],
      [
        { agent_id: agent, run_id: run ?? '*' },
        (one) => one.agent === agent && (run === null ? one.run !== null : one.run === run),
      ],
      [{ categories: { contains: kind } }, (one) => one.categories.includes(kind)],
      [{ metadata: { n: { gte: n } } }, ({ metadata }) => metadata.n !== undefined && metadata.n >= n],
      [
        { OR: [{ 'metadata.n': n }, { categories: { contains: kind } }] },
        (one) => one.metadata.n === n || one.categories.includes(kind),
      ],
    ];
    const [condition, matches] = oneOf(filters);
    const [query, mode] = [oneOf(words), oneOf(modes)];
    const expected = live(asked)
      .filter(matches)
      .map(({ text }) => text)
      .filter(isFoundBy(mode, query));
    const body = { query, mode, top_k: mostFound, filters: condition };
    compareFound(
      `the search ${mode} with ${JSON.stringify(condition)}`,
      await replica().find(asked.caller, body.query, body),
      expected,
    );
    const { json } = await replica().call(asked.caller, 'POST', '/v1/memories/search', {
      ...body,
      token_budget: budget,
    });
    const results = json['results'] as readonly { readonly memory: string }[];
    const tokens = results.reduce((sum, { memory }) => sum + countTokens(memory), 0);
    const isWithin = tokens === json['tokens_returned'] && tokens <= budget;
    compare(
      'a search with a budget',
      [isWithin, results.every(({ memory }) => expected.includes(memory))],
      [true, true],
    );
  }

  const choices = Object.entries(weights).flatMap(([name, weight]) =>
    Array<StepName>(weight * 2).fill(name as StepName),
  );
  /** The erasure is in the last tenth of the steps, so that the memories have been packed. */
  const erasureOfFirst = steps - Math.floor(random() * (steps / 10));
  for (step = 1; step <= steps; step += 1) {
    const name = oneOf(choices);
    counts[name] = (counts[name] ?? 0) + 1;
    if (step % stepsOfLook === 0 && step < erasureOfFirst) wasPacked ||= await isPacked();
    if (step === erasureOfFirst) await erasePacked();
    await taken[name](random() < 0.5 ? (people[0] as Person) : oneOf(people));
    await compareReads();
    if (step % 500 === 0) say(`group ${seed}: ${step} steps, ${differences.length} differences`);
  }
  for (const person of people) {
    for (const memory of person.kept.filter(({ state }) => state === 'expired')) {
      await until('the end of an expired memory is in its history', async () =>
        (await historyOf(person, memory)).length > memory.history.length ? true : undefined,
      );
      memory.history.push(['DELETE', memory.text, null]);
    }
    for (const memory of person.kept) compare('a history at the end', await historyOf(person, memory), memory.history);
  }
  return { counts, differences, wasPacked, isErasedPacked };
}
