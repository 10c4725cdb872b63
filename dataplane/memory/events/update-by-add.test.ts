import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { type OpenedMemory, openMemory } from '../testing/open-memory.ts';

const later = '2090-01-01T00:00:00.000Z';
const earlier = '2080-01-01T00:00:00.000Z';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the changes of an add to a memory'), () => {
  let memory: OpenedMemory;
  beforeAll(async () => {
    memory = await openMemory();
  });
  afterAll(() => memory[Symbol.asyncDispose]());

  /** The only memory of a user after two adds. */
  async function after(user: string, [first, second]: readonly [object, object], statement = 'I live in Porto.') {
    const said = (content: string, more: object) => ({
      ...{ agent_id: 'tutor', messages: [{ role: 'user', content }], ...more },
    });
    await memory.add({ user }, said('I live in Lisbon.', first));
    await memory.add({ user }, said(statement, second));
    const { json } = await memory.call({ user }, 'GET', `/v1/memories?user_id=${user}`);
    expect(json['count']).toBe(1);
    return (json['results'] as readonly Record<string, unknown>[])[0];
  }

  test.each([
    ['without an expiry never expires', { expires_at: later }, {}, null],
    ['with an expiry expires then', {}, { expires_at: later }, later],
    ['with an earlier expiry expires earlier', { expires_at: later }, { expires_at: earlier }, earlier],
  ])('a memory that is replaced by a statement %s', async (title, first, second, expires_at) => {
    const user = title.replaceAll(' ', '-');
    expect(await after(user, [first, second])).toMatchObject({ memory: 'I live in Porto', expires_at });
  });

  test.each([
    ['I am a teacher.', 'I left teaching for a job in publishing.'],
    ['Я бегаю по утрам.', 'С бегом покончено.'],
  ])('after "%s" the message "%s", with a word of the same family, ends the memory', async (first, then) => {
    const user = { user: `family-${first.length}` };
    await memory.say(user, first);
    const before = await memory.all(user);
    expect(before).toHaveLength(1);
    await memory.say(user, then);
    expect(await memory.all(user)).not.toContain(before[0]);
  });

  test('a memory whose replacement has expired is not found', async () => {
    const user = { user: 'past' };
    const messages = (content: string) => ({ agent_id: 'tutor', messages: [{ role: 'user', content }] });
    await memory.add(user, messages('I live in Lisbon.'));
    await memory.add(user, { ...messages('I live in Porto.'), expires_at: '2001-01-01T00:00:00Z' });
    expect(await memory.all(user)).toEqual([]);
    expect(await memory.find(user, 'Where do I live? Lisbon, Porto')).toEqual([]);
  });

  test('metadata and categories of an add replace those of the memory; without them the memory keeps its existing ones', async () => {
    const own = { metadata: { a: 1 }, categories: ['home'] };
    expect(await after('replaced', [own, { metadata: { b: 2 }, categories: ['town'] }])).toMatchObject({
      ...{ metadata: { b: 2 }, categories: ['town'] },
    });
    expect(await after('kept', [own, {}])).toMatchObject(own);
    expect(await after('empty', [own, { metadata: {}, categories: [] }])).toMatchObject(own);
    expect(await after('one', [own, { categories: ['town'] }])).toMatchObject({ ...own, categories: ['town'] });
  });

  test('a repetition changes neither expiry nor metadata nor categories', async () => {
    const own = { metadata: { a: 1 }, categories: ['home'], expires_at: later };
    const more = { metadata: { b: 2 }, categories: ['town'], expires_at: earlier };
    expect(await after('repeated', [own, more], 'I live in Lisbon!')).toMatchObject({
      ...{ memory: 'I live in Lisbon', ...own },
    });
  });

  test('a change by PUT keeps the expiry', async () => {
    const user = { user: 'put' };
    const { id } = (await after('put', [{}, { expires_at: later }])) as { id: string };
    const { json } = await memory.call(user, 'PUT', `/v1/memories/${id}`, { text: 'I live in Braga' });
    expect(json).toMatchObject({ memory: 'I live in Braga', expires_at: later });
  });

  test('a correction ends every memory of its topic, including one whose topic was set by a change by PUT', async () => {
    const user = { user: 'twice' };
    await memory.say(user, 'I live in Rome.', 'I work at Nokia.');
    const { json } = await memory.call(user, 'GET', '/v1/memories?user_id=twice');
    const listed = json['results'] as readonly { readonly id: string; readonly memory: string }[];
    const idOf = (word: string) => listed.find((one) => one.memory.includes(word))?.id;
    await memory.call(user, 'PUT', `/v1/memories/${idOf('Nokia')}`, { text: 'I live in Paris' });
    const event = await memory.say(user, 'I live in Lisbon.');
    expect(
      (event['decisions'] as { decision: string; reason: string }[]).map((one) => [one.decision, one.reason]),
    ).toEqual([
      ['UPDATE', 'replaces'],
      ['DELETE', 'replaced'],
    ]);
    expect(await memory.all(user)).toEqual(['I live in Lisbon']);
    expect(await memory.find(user, 'Where do I live: Rome, Paris, Lisbon?')).toEqual(['I live in Lisbon']);
    const history = await memory.call(user, 'GET', `/v1/memories/${idOf('Rome')}/history`);
    expect(history.json).toMatchObject([{ event: 'ADD' }, { event: 'DELETE', old_memory: 'I live in Rome' }]);
  });
});
