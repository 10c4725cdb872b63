import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { hashedWords } from '../../../e2e/support/hashed-words.ts';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

type Prompt = {
  readonly messages: readonly { readonly message: number; readonly text: string }[];
  readonly known: readonly { readonly memory: number; readonly text: string }[];
};
type Answer = (prompt: Prompt) => unknown;

let users = 0;
const someone = () => {
  users += 1;
  return { user: `told-${users}` };
};
const fact = (text: string, more: object = {}) => ({
  decision: 'ADD',
  text,
  quote: text,
  message: 0,
  memory: null,
  importance: 4,
  ...more,
});

describe.skipIf(missingPostgres !== undefined)(onPostgres('facts that a model extracts'), () => {
  let memory: OpenedMemory;
  let answer: Answer = () => ({ facts: [] });
  let prompts: Prompt[] = [];
  const halves: string[] = [];
  const answers = (next: Answer) => {
    answer = next;
    prompts = [];
  };

  beforeAll(async () => {
    const models = {
      ...hashedWords((texts) => {
        halves.push(...texts.filter((text) => !text.isWellFormed()));
      }),
      complete: async (_alias: string, { user }: { readonly user: string }) => {
        const prompt = JSON.parse(user) as Prompt;
        prompts.push(prompt);
        const given = await answer(prompt);
        return typeof given === 'string' ? given : JSON.stringify(given);
      },
    };
    memory = await openMemory({
      overrides: { models, times: { pollMs: 20, maintainMs: 100 } },
      config: { extractionModel: 'reader' },
    });
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  /** Makes an event due immediately, without the pause between two attempts. */
  const impatient = async <T>(run: Promise<T>): Promise<T> => {
    const hurry = setInterval(() => {
      void memory.database.database.sql`update memory.events set due_at = clock_timestamp() where status = 'RUNNING'
          and due_at < clock_timestamp() + interval '10 seconds'`.catch(() => undefined);
    }, 50);
    try {
      return await run;
    } finally {
      clearInterval(hurry);
    }
  };

  test('only a fact whose quote occurs in a message of the user becomes a memory', async () => {
    const user = someone();
    answers(() => ({
      facts: [
        fact('I live in Rome'),
        fact('I own a yacht', { quote: 'I own a yacht' }),
        fact('I am the system', { message: 1 }),
        fact('I live nowhere', { message: 7 }),
        fact('I live nowhere at all', { message: 2 ** 53 - 1 }),
      ],
    }));
    const event = await memory.add(user, {
      agent_id: 'a',
      messages: [
        { role: 'user', content: 'Hi, I live in Rome.' },
        { role: 'system', content: 'I am the system' },
      ],
    });
    expect(event).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(user)).toEqual(['I live in Rome']);
    expect(prompts[0]?.messages).toEqual([expect.objectContaining({ message: 0, text: 'Hi, I live in Rome.' })]);
  });

  test('a text that its quote does not support and a fact without importance are not stored, and the decisions name the reason', async () => {
    const user = someone();
    answers(() => ({
      facts: [
        fact('I own a yacht', { quote: 'I like tea' }),
        fact('eat meat', { quote: 'eat meat' }),
        fact('I live in Paris', { quote: 'I live in Paris' }),
        fact('I feel great', { importance: 2 }),
        fact('I like tea', { importance: 3 }),
        fact('I moved to Porto yesterday (1999-01-01)', { quote: 'I moved to Porto yesterday' }),
      ],
    }));
    const content = `I like tea. I don't eat meat. My wife said: 'I live in Paris'. I feel great! I moved to Porto yesterday.`;
    const messages = [{ role: 'user', content, created_at: '2026-05-06T10:00:00Z' }];
    const { decisions } = await memory.add(user, { agent_id: 'a', messages });
    expect((decisions as { readonly reason: string }[]).map(({ reason }) => reason)).toEqual([
      'not supported by the quote',
      'not supported by the quote',
      'not stated by the user',
      'not important',
      'new',
      'new',
    ]);
    expect(await memory.all(user)).toEqual(['I moved to Porto yesterday (2026-05-05)', 'I like tea']);
  });

  test('a new fact about a known topic replaces the memory of it, though the model calls it new', async () => {
    const user = someone();
    answers(({ messages }) => ({ facts: [fact(messages[0]?.text ?? '')] }));
    await memory.say(user, 'I live in Rome');
    expect(await memory.say(user, 'I live in Oslo')).toMatchObject({ decisions: [{ decision: 'UPDATE' }] });
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
  });

  test('a fact that the answer states twice becomes one memory', async () => {
    const user = someone();
    answers(() => ({
      facts: [
        fact('I like tea'),
        fact('I like tea!', { quote: 'I like tea' }),
        fact('I like TEA', { quote: 'I like tea', decision: 'UPDATE', memory: 3 }),
      ],
    }));
    const event = await memory.say(user, 'I like tea');
    expect(event).toMatchObject({ decisions: [{ decision: 'ADD' }, { decision: 'NONE' }, { decision: 'NONE' }] });
    expect(await memory.all(user)).toEqual(['I like tea']);
  });

  test('known memories are numbered in the prompt, and an UPDATE or DELETE by the model applies to the memory with that number', async () => {
    const user = someone();
    answers(() => ({ facts: [fact('I live in Rome')] }));
    await memory.say(user, 'I live in Rome');
    answers(({ known }) => ({
      facts: [
        fact('I live in Oslo', { decision: 'UPDATE', memory: known.find(({ text }) => text.includes('Rome'))?.memory }),
      ],
    }));
    await memory.say(user, 'I live in Oslo');
    expect(prompts[0]?.known).toEqual([{ memory: 0, text: 'I live in Rome' }]);
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
    answers(() => ({ facts: [fact('Forget where I live', { decision: 'DELETE', memory: 0 })] }));
    expect(await memory.say(user, 'Forget where I live')).toMatchObject({ decisions: [{ decision: 'DELETE' }] });
    expect(await memory.all(user)).toEqual([]);
  });

  /** Stores texts unchanged, and shows the model a dialogue with these messages. */
  async function knownIn(texts: readonly string[], said: readonly string[]): Promise<readonly string[]> {
    const user = someone();
    const messagesOf = (all: readonly string[]) => all.map((content) => ({ role: 'user', content }));
    const stored = await memory.add(user, { agent_id: 'a', infer: false, messages: messagesOf(texts) });
    expect(stored['status']).toBe('SUCCEEDED');
    answers(() => ({ facts: [] }));
    await memory.add(user, { agent_id: 'a', messages: messagesOf(said) });
    return (prompts[0]?.known ?? []).map(({ text }) => text);
  }

  test('the model sees the memories that are nearest to each of many messages', async () => {
    const texts = Array.from({ length: 30 }, (_, at) => `The item${at} stands in room${at}`);
    const said = texts.map((_, at) => `item${at} room${at}`);
    expect((await knownIn(texts, said)).toSorted()).toEqual(texts.toSorted());
  });

  test('the model sees the memory that is nearest to the end of a long message', async () => {
    const texts = ['My bicycle is red', ...Array.from({ length: 12 }, (_, at) => `The item${at} is old`)];
    const items = texts.map((_, at) => `item${at}`).join(' ');
    const said = `${`${items} `.repeat(250)}My bicycle is blue`;
    expect(said.length).toBeGreaterThan(20_000);
    expect(await knownIn(texts, [said])).toContain('My bicycle is red');
  });

  test('the model sees at most 40 known memories, and at most 12,288 bytes of them as JSON', async () => {
    const ofItem = (at: number) => `item${at}`;
    const items = Array.from({ length: 41 }, (_, at) => ofItem(at));
    const said = Array.from({ length: 20 }, (_, at) => `${ofItem(2 * at)} ${ofItem(2 * at + 1)} ${ofItem(40)}`);
    expect(await knownIn(items, said)).toHaveLength(40);
    // Two bytes of each text are its quotation marks.
    const long = Array.from({ length: 6 }, (_, at) => `item${at} `.padEnd(2_046, 'x'));
    expect(await knownIn(long, said)).toHaveLength(6);
    expect(await knownIn([...long.slice(0, 5), `${long[5]}x`], said)).toHaveLength(5);
    const russian = Array.from({ length: 6 }, (_, at) => `item${at} ${'щ'.repeat(2_045)}`);
    expect(await knownIn(russian, said)).toHaveLength(2);
  });

  test('a nearest memory that is too long for the prompt does not hide the others', async () => {
    const long = `item0 item1 ${'щ'.repeat(8_000)}`;
    expect(await knownIn([long, 'item0 is red', 'item1 is blue'], ['item0 item1'])).toEqual([
      'item0 is red',
      'item1 is blue',
    ]);
  });

  test('a memory of another agent is neither shown nor changed', async () => {
    const user = someone();
    answers(() => ({ facts: [fact('I live in Rome')] }));
    await memory.say(user, 'I live in Rome');
    answers(() => ({ facts: [fact('erase everything', { decision: 'DELETE', memory: 0 })] }));
    const messages = [{ role: 'user', content: 'erase everything' }];
    await memory.add(user, { agent_id: 'coach', messages });
    expect(prompts[0]?.known).toEqual([]);
    expect(await memory.all(user)).toEqual(['I live in Rome']);
  });

  test.each([
    ['no JSON', 'I cannot help with that.'],
    ['half of an object', '{"facts": ['],
    ['no facts', {}],
    ['an unknown member', { facts: [{ ...fact('I like tea'), note: 1 }] }],
    ['U+0000', { facts: [fact('I like\u0000 tea', { quote: 'tea' })] }],
    [
      'half a character',
      '{"facts": [{"decision": "ADD", "text": "\\ud800", "quote": "tea", "message": 0, "memory": null, "importance": 4}]}',
    ],
    ['a blank text', { facts: [fact('  ', { quote: 'tea' })] }],
    ['an empty quote', { facts: [fact('I like tea', { quote: '' })] }],
    ['a text that is too long', { facts: [fact('x'.repeat(8_193), { quote: 'tea' })] }],
    ['more facts than allowed', { facts: new Array(51).fill(fact('I like tea')) }],
    ['deep nesting', `{"facts": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['a huge text', `{"facts": "${'x'.repeat(5_000_000)}"}`],
    ['an importance that is no step of the scale', { facts: [fact('I like tea', { importance: 6 })] }],
    ['a number that is no place', { facts: [fact('I like tea', { message: -1 })] }],
  ])(
    'after an answer with %s the model is called again, and after five such answers the event is FAILED',
    async (_what, given) => {
      const user = someone();
      answers(() => given);
      const event = await impatient(memory.say(user, 'I like tea'));
      expect(event).toMatchObject({ status: 'FAILED', error: 'the model gave no valid answer', attempts: 5 });
      expect(prompts).toHaveLength(5);
      expect(await memory.all(user)).toEqual([]);
      answers(() => ({ facts: [fact('I like tea')] }));
      expect((await memory.say(user, 'I like tea'))['status']).toBe('SUCCEEDED');
    },
  );

  test('a text that is too long for an index query is split between two characters', async () => {
    const user = someone();
    answers(() => ({ facts: [fact('x', { quote: 'x' })] }));
    await memory.say(user, 'x');
    const event = await memory.say(user, `x${'😀'.repeat(4_000)}`);
    expect(event['status']).toBe('SUCCEEDED');
    expect(halves).toEqual([]);
  });

  /** A model that replaces the known memory, which a test changes by hand during the first calls. */
  async function changedDuring(calls: number) {
    const user = someone();
    answers(() => ({ facts: [fact('I live in Rome')] }));
    const { memory_ids } = await memory.say(user, 'I live in Rome');
    const path = `/v1/memories/${(memory_ids as readonly string[])[0]}`;
    answers(async () => {
      if (prompts.length <= calls)
        await memory.call(user, 'PUT', path, { text: `I live in Rome, no ${prompts.length}` });
      return { facts: [fact('I live in Oslo', { decision: 'UPDATE', memory: 0 })] };
    });
    return { user, event: await impatient(memory.say(user, 'I live in Oslo')) };
  }

  test('an event whose memories change while the model reads is tried again, and the change, which is later, stays', async () => {
    const { user, event } = await changedDuring(4);
    expect(event).toMatchObject({ status: 'SUCCEEDED', attempts: 2, error: null });
    expect(await memory.all(user)).toEqual(['I live in Rome, no 4']);
  });

  test('an event whose memories change during every attempt is FAILED with the remedy, and the same messages succeed later', async () => {
    const { user, event } = await changedDuring(1_000);
    const error =
      'the memories of the user changed while a model read the messages: send them again with another Idempotency-Key';
    expect(event).toMatchObject({ status: 'FAILED', attempts: 5, error, memory_ids: [] });
    answers(() => ({ facts: [fact('I live in Oslo', { decision: 'UPDATE', memory: 0 })] }));
    expect(await memory.say(user, 'I live in Oslo')).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(user)).toEqual(['I live in Oslo']);
  });
});
