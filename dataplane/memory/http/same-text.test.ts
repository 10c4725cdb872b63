import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a change by PUT that leaves the text of a memory'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  /** A memory of a statement with metadata, and the calls that read and change it. */
  async function remembered(user: string) {
    const messages = [{ role: 'user', content: 'I live in Lisbon.' }];
    const given = { messages, agent_id: 'tutor', metadata: { a: 1, b: [2] }, categories: ['home'] };
    const { memory_ids } = await memory.add({ user }, given);
    const path = `/v1/memories/${(memory_ids as readonly string[])[0]}`;
    const call = async (method: string, at = path, body?: object) =>
      (await memory.call({ user }, method, at, body)).json;
    const events = async () =>
      ((await call('GET', `${path}/history`)) as unknown as readonly { readonly event: string }[]).map(
        (one) => one.event,
      );
    return {
      before: await call('GET'),
      put: (body: object) => call('PUT', path, body),
      read: () => call('GET'),
      events,
    };
  }

  test.each([
    ['alone', {}],
    ['with the metadata and categories that it has', { metadata: { b: [2], a: 1 }, categories: ['home'] }],
  ])(
    'a PUT that leaves the text of a memory changes nothing %s, and adds no entry to the history',
    async (title, more) => {
      const { before, put, read, events } = await remembered(title.slice(0, 5));
      expect(before['source']).not.toBeNull();
      expect(await put({ text: 'I live in Lisbon', ...more })).toEqual(before);
      expect(await read()).toEqual(before);
      expect(await events()).toEqual(['ADD']);
    },
  );

  test('a PUT that leaves the text of a memory changes metadata and categories, keeps the source, and adds no entry to the history', async () => {
    const { before, put, read, events } = await remembered('other');
    const other = { metadata: { c: 3 }, categories: ['town'] };
    expect(await put({ text: 'I live in Lisbon', ...other })).toMatchObject({ ...other, source: before['source'] });
    expect(await read()).toMatchObject({ ...other, memory: 'I live in Lisbon' });
    expect(await memory.find({ user: 'other' }, 'Lisbon', { filters: { 'metadata.c': 3 } })).toEqual([
      'I live in Lisbon',
    ]);
    expect(await events()).toEqual(['ADD']);
  });

  test('a PUT without a text changes metadata and categories, and keeps the text, its source and its vector', async () => {
    const { before, put, read, events } = await remembered('labels');
    expect(await put({ metadata: { c: 3 } })).toMatchObject({
      ...{ memory: 'I live in Lisbon', metadata: { c: 3 }, categories: ['home'], source: before['source'] },
    });
    expect(await put({ categories: [] })).toMatchObject({ metadata: { c: 3 }, categories: [] });
    const found = await memory.call({ user: 'labels' }, 'POST', '/v1/memories/search', {
      ...{ query: 'Lisbon', mode: 'semantic', filters: { 'metadata.c': 3, categories: { ne: '*' } } },
    });
    expect(found.json['results']).toMatchObject([
      { memory: 'I live in Lisbon', metadata: { c: 3 }, score_details: { semantic: expect.any(Number) } },
    ]);
    const changed = await read();
    expect(await put({ metadata: { c: 3 }, categories: [] })).toEqual(changed);
    expect(await events()).toEqual(['ADD']);
    expect(await put({})).toMatchObject({ code: 'invalid_request' });
  });

  test('a PUT without a text is not a new statement: an earlier message can still correct the memory', async () => {
    const { put, read } = await remembered('older');
    await put({ text: 'I live in Braga' });
    // A row of an earlier release has the time of the change only.
    await memory.database.database.sql`
      update memory.memories set stated_at = null, updated_at = '2026-01-01T00:00:00Z' where text = 'I live in Braga'`;
    await put({ metadata: { c: 3 } });
    const said = { role: 'user', content: 'I live in Faro.', created_at: '2026-02-01T00:00:00Z' };
    expect(await memory.add({ user: 'older' }, { messages: [said], agent_id: 'tutor' })).toMatchObject({
      decisions: [{ decision: 'UPDATE' }],
    });
    expect(await read()).toMatchObject({ memory: 'I live in Faro', metadata: { c: 3 } });
  });

  test('another text with the same words counts as a change', async () => {
    const { put, events } = await remembered('words');
    expect(await put({ text: 'I live in Lisbon!' })).toMatchObject({ memory: 'I live in Lisbon!', source: null });
    expect(await events()).toEqual(['ADD', 'UPDATE']);
  });
});
