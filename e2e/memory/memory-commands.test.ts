import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { runInProcess } from '../../cli/testing/run-cli.ts';
import { openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { missingPostgres, onPostgres } from '../../libraries/sql/testing/test-database.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';

type Listed = { readonly items: readonly { readonly id: string; readonly memory: string }[] };

describe.skipIf(missingPostgres !== undefined)(onPostgres('the commands of memories'), () => {
  let platform: Platform;
  const as = (person: string, ...args: readonly string[]) =>
    runInProcess([...args, '--as', person, '--tenant', 'acme'], { data: platform.data });
  const add = (person: string, ...messages: readonly string[]) =>
    as(person, 'memory', 'add', ...messages, '--agent', 'tutor');
  const list = async (person: string): Promise<Listed['items']> =>
    (JSON.parse((await as(person, 'memory', 'list', '-o', 'json')).stdout) as Listed).items;
  const idOf = async (person: string, words: string): Promise<string> =>
    (await list(person)).find(({ memory }) => memory.includes(words))?.id ?? `no memory of ${words}`;

  beforeAll(async () => {
    platform = await startPlatform({ memory: true });
  });
  afterAll(() => platform?.[Symbol.asyncDispose]());

  test('portcullis memory adds a stated fact, corrects it after a later statement, and shows its history', async () => {
    expect(await add('ann', 'I live in Rome. How are you?')).toMatchObject({
      code: 0,
      stdout: 'ADD I live in Rome (new)\n',
    });
    const id = await idOf('ann', 'Rome');
    expect((await add('ann', 'I live in Lisbon now.')).stdout).toMatch(/^UPDATE I live in Lisbon now/);
    expect(await idOf('ann', 'Lisbon')).toBe(id);
    const { stdout } = await as('ann', 'memory', 'history', id);
    expect(stdout.split('\n').map((line) => line.split(/\s{2,}/)[0])).toEqual(['EVENT', 'ADD', 'UPDATE', '']);
    expect(stdout).toContain('I live in Rome');
  });

  test('portcullis memory add gives memories an expiry, categories and metadata, and refuses malformed values', async () => {
    const labels = ['--category', 'travel', '--category', 'car', '--metadata', '{"level":3}'];
    const rest = ['--no-infer', '--agent', 'tutor', '--expires'];
    expect(
      await as('kim', 'memory', 'add', 'My car is on level 3', ...labels, ...rest, '2999-01-01T00:00:00Z'),
    ).toMatchObject({ code: 0 });
    const [stored] = JSON.parse((await as('kim', 'memory', 'list', '-o', 'json')).stdout).items;
    expect(stored).toMatchObject({ categories: ['travel', 'car'], metadata: { level: 3 } });
    const exported = JSON.parse((await as('kim', 'memory', 'export', '-o', 'json')).stdout);
    expect(exported.memories).toMatchObject([{ expires_at: '2999-01-01T00:00:00.000Z' }]);
    expect(await as('kim', 'memory', 'add', 'My boat is red', ...rest, '2020-01-01T00:00:00Z')).toMatchObject({
      code: 0,
    });
    expect(await list('kim')).toHaveLength(1);
    for (const wrong of [
      ['--expires', 'tomorrow'],
      ['--metadata', '[1]'],
      ['--metadata', '{'],
    ]) {
      expect(await as('kim', 'memory', 'add', 'x', '--agent', 'tutor', ...wrong), wrong.join(' ')).toMatchObject({
        code: 2,
      });
    }
  });

  test('portcullis memory event shows the decisions of an add, and an event of another person is unknown', async () => {
    const { stdout } = await as('lea', 'memory', 'add', 'My cat is called Tom.', '--agent', 'tutor', '-o', 'json');
    const { event_id: id = '', memory_ids = [] } = JSON.parse(stdout) as {
      readonly event_id?: string;
      readonly memory_ids?: readonly string[];
    };
    expect(await as('lea', 'memory', 'event', id)).toMatchObject({
      code: 0,
      stdout: 'ADD My cat is called Tom (new)\n',
    });
    expect((await as('lea', 'memory', 'event', id, '-o', 'name')).stdout).toBe(`${memory_ids[0]}\n`);
    expect(await as('carol', 'memory', 'event', id)).toMatchObject({ code: 3, stdout: '' });
  });

  test('an add that has not ended names portcullis memory event, which shows it waiting and then why it failed', async () => {
    await using api = await openMemory({ config: { role: 'api' } });
    const run = (...words: readonly string[]) => as('max', 'memory', ...words, '--server', api.url);
    const added = await run('add', 'I live in Rome. I am a nurse.', '--agent', 'tutor', '--request-timeout', '1');
    expect(added).toMatchObject({ code: 12, stdout: '' });
    const id = /"portcullis memory event ([0-9a-f-]{36})"/.exec(added.stderr)?.[1] ?? '';
    expect(await run('event', id)).toMatchObject({ code: 0, stdout: 'The add has not ended yet.\n' });
    const quota = { userMemories: 1, tenantUsers: 10, tenantOpenEvents: 10 };
    await using _worker = await openMemory({ database: api.database, config: { role: 'worker', quota } });
    const shown = await until('the add has ended', async () => {
      const { stdout } = await run('event', id);
      return stdout.includes('not ended') ? undefined : stdout;
    });
    expect(shown).toMatch(/^The add failed: .*1 memor/);
  });

  test('portcullis memory search returns memories of the caller only', async () => {
    await add('bob', 'My dog is called Rex.');
    expect((await as('bob', 'memory', 'search', 'dog Rex')).stdout).toMatch(/^My dog is called Rex/);
    expect((await as('carol', 'memory', 'search', 'dog Rex')).stdout).toBe('No memory matches.\n');
    const id = await idOf('bob', 'Rex');
    expect(await as('carol', 'memory', 'get', id)).toMatchObject({ code: 3, stdout: '' });
    expect((await as('bob', 'memory', 'get', id)).stdout).toContain('My dog is called Rex');
  });

  test('portcullis memory changes and deletes a memory by its id, and an unknown id is an error', async () => {
    await add('dave', 'I work at Nokia.');
    const id = await idOf('dave', 'Nokia');
    expect((await as('dave', 'memory', 'update', id, 'I work at Siemens')).stdout).toContain('I work at Siemens');
    expect(await as('dave', 'memory', 'delete', id)).toMatchObject({ code: 0, stdout: `Memory ${id} deleted.\n` });
    expect(await list('dave')).toEqual([]);
    expect(await as('dave', 'memory', 'delete', id)).toMatchObject({ code: 3, stdout: '' });
  });

  test('portcullis memory delete with an unknown id among others deletes the others and names the unknown one', async () => {
    await add('eve', 'I live in Oslo.', 'I am a nurse.');
    const ids = (await list('eve')).map(({ id }) => id);
    const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
    const { code, stdout, stderr } = await as('eve', 'memory', 'delete', ids[0] ?? '', unknown, ids[1] ?? '');
    expect({ code, stdout }).toEqual({ code: 3, stdout: ids.map((id) => `Memory ${id} deleted.\n`).join('') });
    expect(stderr).toContain(`The caller has no memory ${unknown}.`);
    expect(await list('eve')).toEqual([]);
  });

  test('portcullis memory with -o name writes the ids that the other commands accept', async () => {
    const run = (...words: readonly string[]) => as('gil', 'memory', ...words, '-o', 'name');
    const added = await run('add', 'I live in Oslo.', '--agent', 'tutor');
    const id = await idOf('gil', 'Oslo');
    const named = { code: 0, stdout: `${id}\n` };
    expect(added).toMatchObject(named);
    expect(await run('list')).toMatchObject(named);
    expect(await run('get', id)).toMatchObject(named);
    expect(await run('search', 'Oslo')).toMatchObject(named);
    expect(await run('add', 'How are you?', '--agent', 'tutor')).toMatchObject({ code: 0, stdout: '' });
    expect(await run('update', id, 'I live in Bergen')).toMatchObject(named);
    expect(await idOf('gil', 'Bergen')).toBe(id);
    expect(await run('delete', id)).toMatchObject(named);
    expect(await list('gil')).toEqual([]);
  });

  test('portcullis memory refuses -o name before it sends a request whose answer names no memory', async () => {
    await add('hal', 'I live in Oslo.');
    const id = await idOf('hal', 'Oslo');
    const refused = { code: 2, stdout: '', stderr: expect.stringContaining('choose -o json') };
    const commands = [['delete', '--agent', 'tutor', '--yes'], ['history', id], ['export'], ['erase', '--yes']];
    commands.push(['session', 'set', 'chat', '{}'], ['session', 'get', 'chat']);
    for (const words of commands) {
      expect(await as('hal', 'memory', ...words, '-o', 'name'), words.join(' ')).toMatchObject(refused);
    }
    expect(await idOf('hal', 'Oslo')).toBe(id);
    expect(await as('hal', 'memory', 'session', 'get', 'chat')).toMatchObject({ code: 3 });
  });

  test('shell completion offers the ids of the memories of the caller', async () => {
    await add('fay', 'I live in Oslo.', 'I am a nurse.');
    const ids = (await list('fay')).map(({ id }) => id);
    expect(ids).toHaveLength(2);
    const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await runInProcess(['__complete', 'memory', ...words], { data: platform.data });
      return stdout.trim().split('\n').slice(0, -1);
    };
    const caller = ['--as', 'fay', '--tenant', 'acme'];
    for (const verb of ['get', 'update', 'history', 'delete']) {
      expect((await offered(verb, ...caller, '')).toSorted(), verb).toEqual(ids.toSorted());
    }
    expect(await offered('delete', ids[0] as string, ...caller, '')).toEqual([ids[1]]);
    expect(await offered('update', ids[0] as string, ...caller, '')).toEqual([]);
    expect(await offered('get', '--as', 'carol', '--tenant', 'acme', '')).toEqual([]);
    expect(await offered('get', '')).toEqual([]);
  });

  test('after portcullis memory deleted a scope or erased a user, none of their memories remain', async () => {
    await add('gus', 'I live in Kyiv.');
    expect(await as('gus', 'memory', 'delete', '--agent', 'tutor')).toMatchObject({ code: 13, stdout: '' });
    expect((await as('gus', 'memory', 'delete', '--agent', 'tutor', '--yes')).stdout).toMatch(
      /^1 memories permanently deleted, 0 adds cancelled \(\S{36}\)\.\n$/,
    );
    await add('gus', 'I am a teacher.');
    expect(await as('gus', 'memory', 'session', 'set', 'call-1', '{"step":2}')).toMatchObject({ code: 0 });
    expect(JSON.parse((await as('gus', 'memory', 'session', 'get', 'call-1')).stdout)).toEqual({ step: 2 });
    expect((await as('gus', 'memory', 'export')).stdout).toContain('I am a teacher');
    expect((await as('gus', 'memory', 'erase', '--yes')).stdout).toMatch(
      /^Erased 1 memories and 1 states of sessions \(.+\)\.\n$/,
    );
    expect(await list('gus')).toEqual([]);
    expect(await as('gus', 'memory', 'session', 'get', 'call-1')).toMatchObject({ code: 3 });
  });
});
