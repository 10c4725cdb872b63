import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { clientKey, served } from '../../dataplane/gateway/testing/start-gateway.ts';
import { startWorld, type World, words } from '../../dataplane/gateway/testing/start-world.ts';
import { answerForm, extractionPrompt } from '../../dataplane/memory/events/model-answer.ts';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { createGatewayModels } from '../../libraries/models/gateway-models.ts';

const ann = { user: 'ann' };
const said = 'My cat is called Tom.';
const fact = { decision: 'ADD', text: said, quote: said, message: 0, memory: null, importance: 4 };
const denial = 'the guardrail of the model gateway denied the text';

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('extraction by a model behind a real gateway with a real policy'),
  () => {
    const stack = new AsyncDisposableStack();
    let world: World;
    let memory: OpenedMemory;

    beforeAll(async () => {
      world = stack.use(await startWorld());
      await served(world.gateway, ['model']);
      const url = new URL(world.gateway.service.url);
      const models = stack.use(createGatewayModels({ url, tokenFile: { first: () => clientKey } }));
      memory = stack.use(
        await openMemory({
          overrides: { models, times: { pollMs: 20, maintainMs: 100 } },
          config: { embeddingProfile: undefined, extractionModel: 'model' },
        }),
      );
    });
    afterAll(() => stack.disposeAsync());
    beforeEach(() => world.upstream.forget());

    const answers = (...facts: readonly object[]) =>
      world.upstream.play({ kind: 'answer', content: JSON.stringify({ facts }) });
    const stored = async () => {
      const { sql } = memory.database.database;
      const tables = [
        sql`select text from memory.memories`,
        sql`select old_text, new_text from memory.history`,
        sql`select messages, error, decisions from memory.events`,
      ];
      return JSON.stringify(await Promise.all(tables));
    };

    test('the provider gets one call with the prompt and the strict form, and its fact is stored', async () => {
      answers(fact);
      expect(await memory.say(ann, said)).toMatchObject({
        status: 'SUCCEEDED',
        decisions: [{ decision: 'ADD' }],
      });
      expect(world.upstream.seen.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
      const [call] = world.upstream.seen.map(({ text }) => JSON.parse(text));
      expect(call).toMatchObject({
        response_format: { type: 'json_schema', json_schema: { ...answerForm, strict: true } },
        messages: [
          { role: 'system', content: extractionPrompt },
          { role: 'user', content: expect.stringContaining(said) },
        ],
      });
      expect(await memory.all(ann)).toEqual([said]);
    });

    test('a text that the policy denies reaches no provider, and its event ends FAILED without the text', async () => {
      const before = await memory.all(ann);
      answers(fact);
      expect(await memory.say(ann, `My code is ${words.deniedInput}.`)).toMatchObject({
        status: 'FAILED',
        error: denial,
        memory_ids: [],
      });
      expect(world.upstream.seen).toEqual([]);
      expect(await memory.all(ann)).toEqual(before);
      expect(await stored()).not.toContain(words.deniedInput);
    });

    test('an answer of the provider that the policy denies is not stored', async () => {
      const before = await memory.all(ann);
      const text = `My key was ${words.deniedOutput}.`;
      answers({ ...fact, text, quote: text });
      expect(await memory.say(ann, text)).toMatchObject({ status: 'FAILED', error: denial, memory_ids: [] });
      // The prompt of the second call has no known memories, because an answer can repeat them.
      expect(world.upstream.seen).toHaveLength(2);
      expect(await memory.all(ann)).toEqual(before);
      expect(await stored()).not.toContain(words.deniedOutput);
    });

    /** Stores memories unchanged, without the model. */
    const knows = async (user: { readonly user: string }, ...texts: readonly string[]) => {
      const messages = texts.map((content) => ({ role: 'user', content }));
      const event = await memory.add(user, { messages, agent_id: 'tutor', infer: false });
      expect(event['status']).toBe('SUCCEEDED');
    };
    const prompts = () =>
      world.upstream.seen.map(
        ({ text }) => JSON.parse(JSON.parse(text).messages[1].content) as { readonly known: readonly object[] },
      );

    test('a known memory that the policy denies does not fail an add: the model is called without known memories', async () => {
      const bob = { user: 'bob' };
      await knows(bob, `My cat wears a ${words.deniedInput}.`, 'My cat is black.');
      answers(fact);
      expect(await memory.say(bob, said)).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'ADD' }] });
      expect(prompts()).toEqual([expect.objectContaining({ known: [] })]);
      expect(await memory.say(bob, `My cat is a ${words.deniedInput}.`)).toMatchObject({
        status: 'FAILED',
        error: denial,
      });
      expect(world.upstream.seen).toHaveLength(1);
    });

    test('known memories of the maximum length do not fail an add', async () => {
      const eve = { user: 'eve' };
      const long = Array.from({ length: 5 }, (_, at) => `cat ${at} `.padEnd(8_000, 'x'));
      await knows(eve, ...long, 'My cat is black.');
      answers(fact);
      expect(await memory.say(eve, said)).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'ADD' }] });
      expect(prompts()).toHaveLength(1);
      expect(prompts()[0]?.known.length).toBeGreaterThan(0);
    });

    test('messages that fit into one check alone but not together with the known memories are read without them', async () => {
      const eve = { user: 'eve' };
      const message = `${said} ${'word '.repeat(4_800)}`;
      answers(fact);
      expect(await memory.say(eve, message)).toMatchObject({ status: 'SUCCEEDED' });
      expect(prompts()).toEqual([expect.objectContaining({ known: [] })]);
    });

    test('an add whose messages do not fit into a check ends FAILED', async () => {
      const error = 'the model gateway or the model does not accept the text';
      answers(fact);
      expect(await memory.say({ user: 'dan' }, `${said} ${'word '.repeat(6_500)}`)).toMatchObject({
        status: 'FAILED',
        error,
      });
      expect(world.upstream.seen).toEqual([]);
    });
  },
);
