import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const day = (no: number): string => `2026-03-${String(no).padStart(2, '0')}T10:00:00Z`;
/** Messages of a person, and their days. */
type Said = readonly [content: string, day?: number];

const messageOf = ([content, at]: Said) => ({
  role: 'user',
  content,
  ...(at === undefined ? {} : { created_at: day(at) }),
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('statements that arrive in another order'), () => {
  let memory: OpenedMemory;
  let users = 0;
  const someone = () => {
    users += 1;
    return { user: `order-${users}` };
  };
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  /** Makes one add; returns the reasons of its decisions. */
  const add = async (user: { readonly user: string }, ...said: readonly Said[]) => {
    const event = await memory.add(user, { agent_id: 'tutor', messages: said.map(messageOf) });
    expect(event).toMatchObject({ status: 'SUCCEEDED' });
    return (event['decisions'] as readonly { readonly reason: string }[]).map(({ reason }) => reason);
  };

  /** The memories after these messages, with one add for each message. */
  const after = async (...said: readonly Said[]): Promise<readonly string[]> => {
    const user = someone();
    for (const one of said) await add(user, one);
    return (await memory.all(user)).toSorted();
  };

  test.each<[string, readonly Said[], readonly string[]]>([
    [
      'sent again',
      [
        ['I live in Paris.', 1],
        ['I live in Rome.', 2],
        ['I live in Paris.', 1],
      ],
      ['I live in Rome'],
    ],
    [
      'sent late',
      [
        ['I live in Rome.', 2],
        ['I live in Paris.', 1],
      ],
      ['I live in Rome'],
    ],
    [
      'sent late as a correction',
      [
        ['I live in Rome.', 3],
        ['I moved from Paris to Oslo.', 2],
      ],
      ['I live in Rome'],
    ],
    [
      'sent late as a correction of a value',
      [
        ['I am learning Thai.', 3],
        ['I gave up on Thai.', 2],
      ],
      ['I am learning Thai'],
    ],
    [
      'sent late as a negation',
      [
        ['I live in Rome.', 3],
        ['I no longer live in Rome.', 2],
      ],
      ['I live in Rome'],
    ],
    [
      'sent late as a request to forget',
      [
        ['I live in Rome.', 3],
        ['Forget that I live in Rome.', 2],
      ],
      ['I live in Rome'],
    ],
    [
      'older than a repetition of the newer one',
      [
        ['I live in Rome.', 1],
        ['I live in Rome!', 3],
        ['I live in Paris.', 2],
      ],
      ['I live in Rome'],
    ],
    ['older than a message without a time', [['I live in Rome.'], ['I live in Paris.', 1]], ['I live in Rome']],
    [
      'sent late in Russian',
      [
        ['Я живу в Риме.', 2],
        ['Я живу в Париже.', 1],
      ],
      ['Я живу в Риме'],
    ],
  ])('an old statement that is %s replaces no newer one', async (_how, said, left) => {
    expect(await after(...said)).toEqual(left);
  });

  test.each<[string, readonly Said[], readonly string[]]>([
    [
      'a newer statement',
      [
        ['I live in Paris.', 1],
        ['I live in Rome.', 2],
      ],
      ['I live in Rome'],
    ],
    [
      'one of the same time',
      [
        ['I live in Paris.', 1],
        ['I live in Rome.', 1],
      ],
      ['I live in Rome'],
    ],
    [
      'an old one about another topic',
      [
        ['I live in Rome.', 2],
        ['I work at Nokia.', 1],
      ],
      ['I live in Rome', 'I work at Nokia'],
    ],
  ])('%s is remembered', async (_what, said, left) => {
    expect(await after(...said)).toEqual(left);
  });

  test('an old statement about a known topic is not new, and its decision reports it', async () => {
    const user = someone();
    await add(user, ['I live in Rome.', 2]);
    expect(await add(user, ['I live in Paris.', 1])).toEqual(['older than the known fact']);
    expect(await add(user, ['I live in Paris.', 3])).toEqual(['replaces']);
  });

  test('the newest message of one add counts, whatever its position', async () => {
    const user = someone();
    await add(user, ['I live in Rome.', 3], ['I live in Paris.', 1], ['I live in Oslo.', 2]);
    expect(await memory.all(user)).toEqual(['I live in Rome']);
    const other = someone();
    await add(other, ['I live in Paris.'], ['I live in Rome.', 4]);
    expect(await memory.all(other)).toEqual(['I live in Rome']);
  });

  test('a message from the future is no later than the add: the next message still replaces it', async () => {
    const user = someone();
    const messages = [{ role: 'user', content: 'I live in Paris.', created_at: '2999-01-01T00:00:00Z' }];
    await memory.add(user, { agent_id: 'tutor', messages });
    await add(user, ['I live in Rome.']);
    expect(await memory.all(user)).toEqual(['I live in Rome']);
  });

  test('a deleted or forgotten statement that is sent again with its time stays deleted, and a statement of today is stored', async () => {
    const user = someone();
    await add(user, ['I live in Rome.', 1]);
    await add(user, ['Forget that I live in Rome.', 3]);
    expect(await add(user, ['I live in Rome.', 1])).toEqual(['older than the deleted fact']);
    expect(await add(user, ['I live in Paris.', 2])).toEqual(['older than the deleted fact']);
    await add(user, ['I like tea.', 1]);
    const { json } = await memory.call(user, 'GET', `/v1/memories?user_id=${user.user}`);
    const [tea] = json['results'] as readonly { readonly id: string }[];
    await memory.call(user, 'DELETE', `/v1/memories/${tea?.id}`);
    expect(await add(user, ['I like tea.', 1])).toEqual(['older than the deleted fact']);
    expect(await memory.all(user)).toEqual([]);
    await add(user, ['I like tea.'], ['I live in Rome.']);
    expect((await memory.all(user)).toSorted()).toEqual(['I like tea', 'I live in Rome']);
  });

  test('a change by PUT is newer than every earlier message', async () => {
    const user = someone();
    await add(user, ['I live in Paris.', 1]);
    const { json } = await memory.call(user, 'GET', `/v1/memories?user_id=${user.user}`);
    const [home] = json['results'] as readonly { readonly id: string }[];
    await memory.call(user, 'PUT', `/v1/memories/${home?.id}`, { text: 'I live in Rome' });
    await add(user, ['I live in Oslo.', 5]);
    expect(await memory.all(user)).toEqual(['I live in Rome']);
    await add(user, ['I live in Oslo.']);
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
  });

  test('a memory that was stored before times were kept has the time of its message', async () => {
    const user = someone();
    await add(user, ['I live in Rome.', 2]);
    await memory.database.database.sql`update memory.memories set stated_at = null`;
    await add(user, ['I live in Paris.', 1]);
    expect(await memory.all(user)).toEqual(['I live in Rome']);
    await add(user, ['I live in Oslo.', 3]);
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
  });

  test('texts that are stored as given have no order', async () => {
    const user = someone();
    const given = (content: string, at: number) =>
      memory.add(user, { agent_id: 'tutor', infer: false, messages: [messageOf([content, at])] });
    await given('I live in Rome', 2);
    await given('I live in Paris', 1);
    expect((await memory.all(user)).toSorted()).toEqual(['I live in Paris', 'I live in Rome']);
  });
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('statements that a model reads in another order'), () => {
  test.each(['ADD', 'UPDATE', 'DELETE'])('an old statement changes no newer memory by %s', async (decision) => {
    const complete = async (_alias: string, { user }: { readonly user: string }) => {
      const { messages, known } = JSON.parse(user) as {
        readonly messages: readonly { readonly text: string }[];
        readonly known: readonly unknown[];
      };
      const text = messages[0]?.text ?? '';
      const more = known.length === 0 ? { decision: 'ADD', memory: null } : { decision, memory: 0 };
      return JSON.stringify({ facts: [{ text, quote: text, message: 0, importance: 4, ...more }] });
    };
    await using memory = await openMemory({
      overrides: { models: { ...hashedWords(), complete } },
      config: { extractionModel: 'reader' },
    });
    const user = { user: 'ann' };
    const say = (...said: Said) => memory.add(user, { agent_id: 'tutor', messages: [messageOf(said)] });
    await say('I live in Rome', 2);
    expect(await say('I live in Paris', 1)).toMatchObject({ decisions: [{ reason: 'older than the known fact' }] });
    expect(await memory.all(user)).toEqual(['I live in Rome']);
    expect(await say('I live in Oslo', 3)).not.toMatchObject({ decisions: [{ decision: 'NONE' }] });
  });
});
