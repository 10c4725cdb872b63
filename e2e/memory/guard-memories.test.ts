import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import {
  policySection,
  type RunningPolicy,
  startPolicy,
  termRule,
} from '../../dataplane/gateway/testing/start-policy.ts';
import { type OpenedMemory, openMemory } from '../../dataplane/memory/testing/open-memory.ts';
import { hashedWords } from '../support/hashed-words.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the guardrail of stored texts, with a real runtime'), () => {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const targetFile = join(folder, 'target.json');
  const maxBodyBytes = 16_384;
  let policy: RunningPolicy;
  let memory: OpenedMemory;
  /** Every text that was sent to a model. */
  const embedded: string[] = [];
  const ann = { user: 'ann' };

  const aim = async (addresses: readonly string[]) => {
    const target = {
      addresses,
      policyId: policy.pin.policyId,
      policyRevision: policy.pin.policyRevision,
      bundleDigest: policy.pin.digest,
      contentProfile: policy.contentProfile,
      maxBodyBytes,
      maxMessages: 32,
      deadlineMs: { request: 1_000, response: 1_000 },
      division: { allowed: true },
    };
    await writeFile(`${targetFile}.new`, JSON.stringify(target));
    await rename(`${targetFile}.new`, targetFile);
  };

  beforeAll(async () => {
    const mask = { type: 'mask', replacement: '[card]' } as const;
    const empty = { type: 'mask', replacement: '' } as const;
    const rules = [
      termRule('deny', ['forbidden phrase']),
      termRule('mask', ['4111 1111'], mask),
      termRule('empty', ['nothing stays'], empty),
      termRule('dated', ['I moved to Porto yesterday (2026-05-05)'], empty),
    ];
    policy = stack.use(
      await startPolicy(
        folder,
        'runtime-service-token',
        { request: policySection(rules), response: policySection() },
        { limits: { maxBodyBytes } },
      ),
    );
    await aim(policy.pin.addresses);
    memory = stack.use(
      await openMemory({
        config: { guard: { targetFile, tokenFile: join(folder, 'runtime.token') } },
        overrides: {
          models: hashedWords((texts) => void embedded.push(...texts)),
          times: { pollMs: 20, maintainMs: 100 },
        },
      }),
    );
  });
  afterAll(() => stack.disposeAsync());

  const everything = async (): Promise<string> => {
    const { sql } = memory.database.database;
    const tables = await Promise.all([
      sql`select text, topic, metadata, categories from memory.memories`,
      sql`select old_text, new_text from memory.history`,
      sql`select messages, error, decisions from memory.events`,
      sql`select state from memory.sessions`,
    ]);
    return JSON.stringify(tables) + embedded.join('\n');
  };
  const refusal = async (method: string, path: string, body: unknown) => {
    const { status, json } = await memory.call(ann, method, path, body);
    return [status, json['code']];
  };
  const first = async () => {
    const { json } = await memory.call(ann, 'GET', '/v1/memories?user_id=ann&page_size=1');
    return (json['results'] as readonly Readonly<Record<string, unknown>>[])[0] ?? {};
  };

  test('the masked text is extracted, stored, embedded and found, and repeating it adds nothing', async () => {
    const body = {
      agent_id: 'tutor',
      messages: [{ role: 'user', content: 'My card is 4111 1111.' }],
      metadata: { card: '4111 1111', '4111 1111': [1] },
      categories: ['4111 1111'],
    };
    expect(await memory.add(ann, body)).toMatchObject({ status: 'SUCCEEDED', decisions: [{ decision: 'ADD' }] });
    expect(await first()).toMatchObject({
      memory: 'My card is [card]',
      metadata: { card: '[card]', '[card]': [1] },
      categories: ['[card]'],
      source: { message: 0, start: 0, end: 'My card is [card]'.length },
    });
    expect(await memory.add(ann, body)).toMatchObject({ decisions: [{ decision: 'NONE' }] });
    expect(await everything()).not.toContain('4111');
  });

  test('without extraction messages are judged, too', async () => {
    const messages = [
      { role: 'user', content: ' pay 4111 1111 ' },
      { role: 'assistant', content: 'paid 4111 1111' },
    ];
    expect(await memory.add(ann, { agent_id: 'raw', infer: false, messages })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(ann)).toEqual(expect.arrayContaining([' pay [card] ', 'paid [card]']));
    expect(await everything()).not.toContain('4111');
  });

  test.each([
    ['a statement', { messages: [{ role: 'user', content: 'I like the forbidden phrase.' }] }],
    ['a text that is kept as it is', { infer: false, messages: [{ role: 'user', content: 'a forbidden phrase' }] }],
    ['metadata', { messages: [{ role: 'user', content: 'I like tea.' }], metadata: { a: ['forbidden phrase'] } }],
    ['a category', { messages: [{ role: 'user', content: 'I like tea.' }], categories: ['forbidden phrase'] }],
  ])('an add whose denied text is %s ends FAILED with a reason, and stores nothing', async (_what, body) => {
    const user = { user: 'denied' };
    const event = await memory.add(user, { agent_id: 'tutor', ...body });
    expect(event).toMatchObject({ status: 'FAILED', error: 'the policy for memories denies the text', attempts: 1 });
    expect(await memory.all(user)).toEqual([]);
  });

  test.each([
    ['a message', { messages: [{ role: 'user', content: 'nothing stays' }] }],
    ['a message that is kept as it is', { infer: false, messages: [{ role: 'user', content: ' nothing stays' }] }],
    [
      'a fact with its date',
      { messages: [{ role: 'user', content: 'I moved to Porto yesterday.', created_at: '2026-05-06T10:00:00Z' }] },
    ],
  ])('an add ends FAILED if masks leave %s blank', async (_what, body) => {
    const user = { user: 'blanked' };
    expect(await memory.add(user, { agent_id: 'tutor', ...body })).toMatchObject({
      ...{ status: 'FAILED', attempts: 1, memory_ids: [] },
      error: 'the masks of the policy leave a text blank: change the policy or the text',
    });
    expect(await memory.all(user)).toEqual([]);
  });

  test('a blank message next to a statement does not fail the add', async () => {
    const user = { user: 'blank' };
    const messages = [' ', 'I like chess.'].map((content) => ({ role: 'user', content }));
    expect(await memory.add(user, { agent_id: 'tutor', messages })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(user)).toEqual(['I like chess']);
  });

  test('a denied text in a message that is never read or stored does not fail the add', async () => {
    const messages = [
      { role: 'tool', content: 'forbidden phrase' },
      { role: 'user', content: 'I like chess.' },
    ];
    expect(await memory.add(ann, { agent_id: 'tutor', messages })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await memory.all(ann)).toContain('I like chess');
  });

  test('a change is stored masked, and a denied one is refused and changes nothing', async () => {
    const before = await first();
    const path = `/v1/memories/${before['id']}`;
    expect(await refusal('PUT', path, { text: 'a forbidden phrase' })).toEqual([400, 'policy_denied']);
    expect(await refusal('PUT', path, { text: 'fine', metadata: { a: 'forbidden phrase' } })).toEqual([
      400,
      'policy_denied',
    ]);
    expect(await refusal('PUT', path, { text: 'nothing stays' })).toEqual([400, 'unjudgeable_text']);
    expect(await first()).toEqual(before);
    expect(await refusal('PUT', path, { text: 'cards: 4111 1111', categories: ['4111 1111'] })).toEqual([
      200,
      undefined,
    ]);
    expect(await first()).toMatchObject({ memory: 'cards: [card]', categories: ['[card]'] });
    const names = { '4111 1111': 1, '[card]': 2 };
    expect(await refusal('PUT', path, { text: 'fine', metadata: names })).toEqual([400, 'unjudgeable_text']);
    expect(await everything()).not.toContain('4111');
  });

  test('the state of a session is stored masked, and a denied one is refused', async () => {
    const path = '/v1/sessions/s/state';
    expect(await refusal('POST', path, { state: { a: 'forbidden phrase' }, ttl_seconds: 60 })).toEqual([
      400,
      'policy_denied',
    ]);
    expect((await memory.call(ann, 'GET', path)).status).toBe(404);
    await memory.call(ann, 'POST', path, { state: { pay: ['4111 1111', 5] }, ttl_seconds: 60 });
    expect((await memory.call(ann, 'GET', path)).json['state']).toEqual({ pay: ['[card]', 5] });
  });

  test('the MCP tool remember stores the text that the guardrail passes', async () => {
    const call = async (fact: string) => {
      const params = { name: 'remember', arguments: { fact, agent_id: 'mcp' } };
      const { json } = await memory.call(ann, 'POST', '/v1/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params,
      });
      const { event_id: id } = (json['result'] as { readonly structuredContent: { readonly event_id: string } })
        .structuredContent;
      return until('the event has ended', async () => {
        const event = (await memory.call(ann, 'GET', `/v1/events/${id}`)).json;
        return event['status'] === 'PENDING' ? undefined : event['status'];
      });
    };
    expect(await call('her card is 4111 1111')).toBe('SUCCEEDED');
    expect(await memory.all(ann)).toContain('her card is [card]');
    expect(await call('a forbidden phrase')).toBe('FAILED');
  });

  test('while no runtime answers, a change is refused with 503 and an add waits; both succeed afterwards', async () => {
    const path = `/v1/memories/${(await first())['id']}`;
    await aim(['http://127.0.0.1:9']);
    await until('the guardrail is away', async () => (await refusal('PUT', path, { text: 'still here' }))[0] === 503);
    const state = { state: { a: 'b' }, ttl_seconds: 60 };
    expect(await refusal('POST', '/v1/sessions/s/state', state)).toEqual([503, 'unavailable']);
    const body = { agent_id: 'tutor', messages: [{ role: 'user', content: 'My cat is called Tom.' }] };
    const { json } = await memory.call(ann, 'POST', '/v1/memories', body);
    const event = async () => (await memory.call(ann, 'GET', `/v1/events/${json['event_id']}`)).json;
    expect(
      await until('an attempt ended', async () => ((await event())['error'] === null ? undefined : event())),
    ).toMatchObject({
      status: 'PENDING',
      error: 'the guardrail was not available',
    });
    expect(await memory.all(ann)).not.toContain('My cat is called Tom');
    const text = await (await fetch(`${memory.adminUrl}/metrics`)).text();
    expect(text).toMatch(/portcullis_memory_dependency_failures_total\{[^}]*dependency="guard"[^}]*\} [1-9]/);
    await aim(policy.pin.addresses);
    await memory.database.database.sql`update memory.events set due_at = clock_timestamp() where status = 'RUNNING'`;
    expect(
      await until('the event has ended', async () => ((await event())['status'] === 'PENDING' ? undefined : event())),
    ).toMatchObject({
      status: 'SUCCEEDED',
    });
    expect(await memory.all(ann)).toContain('My cat is called Tom');
    expect(await refusal('PUT', path, { text: 'back again' })).toEqual([200, undefined]);
  });
});
