import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { randomFrom } from '../../../e2e/support/random-from.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

type Kept = { readonly id: string; readonly text: string; readonly agent: string; readonly run: string | null };
type Person = { readonly caller: { readonly user: string }; kept: readonly Kept[] };

const words = ['tea', 'boat', 'bicycle', 'garden', 'chess', 'violin'];
const agents = ['tutor', 'coach'];
const runs = [null, 'r1', 'r2'];

describe.skipIf(missingPostgres !== undefined)(onPostgres('two replicas of the memory service'), () => {
  const parts = new AsyncDisposableStack();
  let replicas: readonly OpenedMemory[] = [];
  beforeAll(async () => {
    const first = parts.use(await openMemory());
    replicas = [first, parts.use(await openMemory({ database: first.database }))];
  });
  afterAll(() => parts.disposeAsync());

  test.each([1, 2, 3])(
    'random adds, searches and deletions of three users give the same results as a plain list, seed %i',
    async (seed) => {
      const random = randomFrom(seed);
      const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
      const replica = () => oneOf(replicas);
      const people = ['a', 'b', 'c'].map((name): Person => ({ caller: { user: `${name}-${seed}` }, kept: [] }));
      let texts = 0;
      const newText = () => {
        texts += 1;
        return `${oneOf(words)} number ${texts}`;
      };
      const steps: readonly ((person: Person) => Promise<void>)[] = [
        async (person) => {
          const [text, agent, run] = [newText(), oneOf(agents), oneOf(runs)];
          const scope = { agent_id: agent, ...(run === null ? {} : { run_id: run }) };
          const messages = [{ role: 'user', content: text }];
          const event = await replica().add(person.caller, { messages, ...scope, infer: false });
          const [id] = event['memory_ids'] as readonly string[];
          person.kept = [...person.kept, { id: id ?? '', text, agent, run }];
        },
        async (person) => {
          const memory = oneOf(person.kept);
          if (memory === undefined) return;
          const text = newText();
          const changed = await replica().call(person.caller, 'PUT', `/v1/memories/${memory.id}`, { text });
          expect(changed).toMatchObject({ status: 200, json: { memory: text } });
          person.kept = person.kept.map((one) => (one.id === memory.id ? { ...one, text } : one));
        },
        async (person) => {
          const memory = oneOf(people.flatMap(({ kept }) => kept));
          if (memory === undefined) return;
          const isOwn = person.kept.includes(memory);
          const { status } = await replica().call(person.caller, 'DELETE', `/v1/memories/${memory.id}`);
          expect(status).toBe(isOwn ? 200 : 404);
          person.kept = person.kept.filter(({ id }) => id !== memory.id);
        },
        async (person) => {
          const [agent, run] = [oneOf(agents), oneOf(runs)];
          const query = `agent_id=${agent}${run === null ? '' : `&run_id=${run}`}`;
          const { json } = await replica().call(person.caller, 'DELETE', `/v1/memories?${query}`);
          const left = person.kept.filter((one) => one.agent !== agent || (run !== null && one.run !== run));
          expect(json['deleted_count']).toBe(person.kept.length - left.length);
          person.kept = left;
        },
      ];
      for (let step = 0; step < 60; step += 1) {
        const person = oneOf(people);
        // Adds are more frequent than removals.
        await oneOf([...steps, steps[0] as (typeof steps)[number], steps[0] as (typeof steps)[number]])(person);
        const agent = oneOf(agents);
        const of = (asked: Person) => asked.kept.filter((one) => one.agent === agent).map(({ text }) => text);
        const asked = oneOf(people);
        const listed = (await replica().call(asked.caller, 'GET', `/v1/memories?agent_id=${agent}`)).json;
        expect(listed['count']).toBe(of(asked).length);
        expect((listed['results'] as readonly { memory: string }[]).map(({ memory }) => memory).toSorted()).toEqual(
          of(asked).toSorted(),
        );
        const more = { top_k: 100, filters: { agent_id: agent } };
        expect((await replica().find(asked.caller, oneOf(words), more)).toSorted()).toEqual(of(asked).toSorted());
      }
    },
  );

  test('adds of one user through two replicas take effect in the order in which they were accepted', async () => {
    const user = { user: 'ordered' };
    const cities = Array.from({ length: 12 }, (_, at) => `City${at}`);
    for (const [at, city] of cities.entries()) {
      const body = { agent_id: 'a', messages: [{ role: 'user', content: `I live in ${city}.` }] };
      await (replicas[at % 2] as OpenedMemory).call(user, 'POST', '/v1/memories', body);
    }
    const first = replicas[0] as OpenedMemory;
    await first.say(user, 'I like tea.');
    expect((await first.all(user)).toSorted()).toEqual(['I like tea', 'I live in City11']);
    const [id] = (await first.call(user, 'GET', '/v1/memories?agent_id=a')).json['results'] as { id: string }[];
    const history = (await first.call(user, 'GET', `/v1/memories/${id?.id}/history`)).json;
    expect((history as unknown as { new_memory: string }[]).map((entry) => entry.new_memory)).toEqual(
      cities.map((city) => `I live in ${city}`),
    );
  });

  test('many simultaneous requests with one key are one add', async () => {
    const user = { user: 'impatient' };
    const body = { agent_id: 'a', infer: false, messages: [{ role: 'user', content: 'once' }] };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        (replicas[at % 2] as OpenedMemory).call(user, 'POST', '/v1/memories', body, { 'idempotency-key': 'k' }),
      ),
    );
    expect(new Set(answers.map(({ status, json }) => `${status} ${json['event_id']}`)).size).toBe(1);
    await (replicas[0] as OpenedMemory).say(user, 'I like tea.');
    expect(await (replicas[1] as OpenedMemory).all(user)).toEqual(['I like tea', 'once']);
  });

  test('each of many simultaneous changes of a memory is answered with its own text, and the history has them all', async () => {
    const user = { user: 'changing' };
    const body = { agent_id: 'a', infer: false, messages: [{ role: 'user', content: 'text' }] };
    const [id] = (await (replicas[0] as OpenedMemory).add(user, body))['memory_ids'] as readonly string[];
    const texts = Array.from({ length: 40 }, (_, at) => `text ${at}`);
    const answers = await Promise.all(
      texts.map((text, at) => (replicas[at % 2] as OpenedMemory).call(user, 'PUT', `/v1/memories/${id}`, { text })),
    );
    expect(answers.map(({ status, json }) => [status, json['memory']])).toEqual(texts.map((text) => [200, text]));
    const { json } = await (replicas[0] as OpenedMemory).call(user, 'GET', `/v1/memories/${id}/history`);
    const history = json as unknown as readonly { old_memory: string | null; new_memory: string }[];
    expect(history.map((entry) => entry.new_memory).toSorted()).toEqual(['text', ...texts].toSorted());
    for (const [at, entry] of history.entries()) expect(entry.old_memory).toBe(history[at - 1]?.new_memory ?? null);
  });

  test('after the deletion of a scope or the erasure of a user, adds that were in progress store nothing', async () => {
    const body = (text: string) => ({ agent_id: 'a', infer: false, messages: [{ role: 'user', content: text }] });
    for (const end of ['deletion', 'erasure']) {
      const user = { user: `ended by ${end}` };
      const [one, other] = replicas as readonly [OpenedMemory, OpenedMemory];
      await one.add(user, body('early'));
      await other.find(user, 'early');
      const adds = Array.from({ length: 20 }, (_, at) => one.call(user, 'POST', '/v1/memories', body(`late ${at}`)));
      await Promise.all(adds);
      const ended =
        end === 'deletion'
          ? await other.call(user, 'DELETE', '/v1/memories?agent_id=a')
          : await other.call(user, 'POST', '/v1/erasures', { user_id: user.user });
      expect(ended.status).toBe(200);
      await one.add(user, { ...body('after'), agent_id: 'b' });
      for (const replica of [one, other]) {
        expect(await replica.all(user)).toEqual(['after']);
        expect(await replica.find(user, 'late early after')).toEqual(['after']);
      }
    }
  });
});
