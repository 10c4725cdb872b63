import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifies } from '../support/verifies.ts';
import type { Command } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';
import { type CommandOptions, newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

onResourceServers('commands', (openWorld) => {
  let world: ManagementWorld;
  let policyId: string;
  let modelId: string;

  beforeAll(async () => {
    world = await openWorld({ replicas: 2 });
    policyId = (await world.createPolicy('commanded')).id;
    modelId = await world.createModel('commanded-model');
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const commands = () => world.commandsOn(policyId, modelId);

  const send = ({ method, path, body, etag }: Command, options: CommandOptions = {}): Promise<HttpResponse> =>
    world.api.command(method, path, body, { etag, ...options });

  async function expectRefused(command: Command, options: CommandOptions, status: number, code: string): Promise<void> {
    const before = await world.objects();
    const answer = await send(command, options);
    expect([command.name, answer.status, answer.json.error?.code]).toEqual([command.name, status, code]);
    expect(await world.objects()).toEqual(before);
  }

  verifies(
    ['management:idempotency-key:missing-post', 'management:idempotency-key:missing-put'],
    'a command without an idempotency key is refused and changes nothing',
    async () => {
      for (const command of await commands()) {
        const options = { headers: { 'idempotency-key': undefined } };
        await expectRefused(command, options, 400, 'idempotency_key_missing');
      }
    },
  );

  verifies(
    ['management:idempotency-key:length', 'management:idempotency-key:charset', 'management:limit:idempotency-key'],
    'an idempotency key of other than 16 to 128 characters of A-Z a-z 0-9 . _ ~ - is refused on every command',
    async () => {
      const wrong = [
        'a'.repeat(15),
        'a'.repeat(129),
        `${'a'.repeat(15)} b`,
        `${'a'.repeat(15)}/`,
        `${'a'.repeat(15)}:`,
      ];
      for (const command of await commands()) {
        for (const key of [...wrong, `${'a'.repeat(15)}+`, `${'a'.repeat(15)}\u00e4`, `"${'a'.repeat(16)}"`]) {
          await expectRefused(command, { key }, 400, 'idempotency_key_invalid');
        }
        const twice = { headers: { 'idempotency-key': [newKey(), newKey()] } };
        await expectRefused(command, twice, 400, 'idempotency_key_invalid');
      }
      const good = { post: 'p', put: 'q', binding: 'b' } as const;
      for (const length of [16, 128]) {
        for (const command of await commands()) {
          const key = `${good[command.name]}.Z_0~-`.padEnd(length, '9');
          const answer = await send(command, { key });
          expect([command.name, length, answer.status]).toEqual([command.name, length, 202]);
          await world.api.ended(answer);
        }
      }
    },
  );

  verifies(
    ['management:if-match:missing-policy', 'management:if-match:missing-binding', 'management:if-match:stale'],
    'a PUT without If-Match or with a stale one is refused and changes nothing',
    async () => {
      const [, put, binding] = await commands();
      for (const command of [put, binding]) {
        await expectRefused({ ...command, etag: undefined as never }, {}, 428, 'if_match_missing');
        for (const etag of ['*', `W/${command.etag}`, '"other"', `${command.etag}, "other"`]) {
          await expectRefused({ ...command, etag }, {}, 412, 'etag_mismatch');
        }
        for (const etag of ['', 'abc', `${command.etag?.slice(1)}`, '"a" "b"']) {
          await expectRefused({ ...command, etag }, {}, 400, 'if_match_invalid');
        }
        await world.api.ended(await send(command));
        await expectRefused(command, {}, 412, 'etag_mismatch');
      }
    },
  );

  verifies(
    ['management:if-match:latest-etag', 'management:if-match:binding-model-etag', 'management:binding-get:etag'],
    'the ETag of the latest read is accepted, and that of a policy never matches a model',
    async () => {
      const [, put, binding] = await commands();
      expect(binding.etag).not.toBe(put.etag);
      await expectRefused({ ...binding, etag: put.etag ?? '' }, {}, 412, 'etag_mismatch');
      await expectRefused({ ...put, etag: binding.etag ?? '' }, {}, 412, 'etag_mismatch');
      await world.savePolicy(policyId);
      const answer = await send(binding);
      expect(answer.status).toBe(202);
      await world.api.ended(answer);
    },
  );

  verifies(
    ['management:idempotency-key:repeat-same', 'management:idempotency-key:new-change'],
    'a repeated command gets the same answer from every replica and has no second effect; a new key starts a new operation',
    async () => {
      for (const command of await commands()) {
        const key = newKey();
        const first = await send(command, { key });
        expect(first.status).toBe(202);
        await world.api.ended(first);
        const after = await world.objects();
        for (const replica of [0, 1]) {
          const again = await send(command, { key, replica });
          expect([again.status, again.text, again.headers['location']]).toEqual([
            202,
            first.text,
            first.headers['location'],
          ]);
        }
        expect(await world.objects()).toEqual(after);
        const [fresh] = (await commands()).filter(({ name }) => name === command.name);
        const next = await send(fresh as Command);
        expect(next.json.operationId).not.toBe(first.json.operationId);
        await world.api.ended(next);
      }
    },
  );

  test('a repeated command with reordered members and a stale ETag gets the same answer', async () => {
    const [, put] = await commands();
    const key = newKey();
    const first = await send(put, { key });
    await world.api.ended(first);
    const reversed = Object.fromEntries(Object.entries(put.body).toReversed());
    const again = await send({ ...put, body: reversed, etag: '"stale"' }, { key });
    expect([again.status, again.text]).toEqual([202, first.text]);
  });

  verifies(
    ['management:idempotency-key:reused'],
    'a used idempotency key with another body, path or method is refused with 409 before If-Match and body are checked',
    async () => {
      const [post, put, binding] = await commands();
      const key = newKey();
      await world.api.ended(await send(post, { key }));
      const others: readonly Command[] = [
        { ...post, body: { ...post.body, name: 'other' } },
        put,
        binding,
        { ...put, etag: '"stale"' },
        { ...post, body: { not: 'valid' } },
      ];
      for (const other of others) await expectRefused(other, { key }, 409, 'idempotency_key_reused');
      const before = await world.objects();
      const broken = await world.api.command('POST', list, Buffer.from('{'), { key });
      expect([broken.status, broken.json.error.code]).toEqual([409, 'idempotency_key_reused']);
      expect(await world.objects()).toEqual(before);
    },
  );

  test('the idempotency key of a refused command can be used for the corrected one', async () => {
    const [post, put] = await commands();
    const key = newKey();
    expect((await send({ ...post, body: {} }, { key })).status).toBe(422);
    expect((await send({ ...put, etag: '"stale"' }, { key })).status).toBe(412);
    const answer = await send(put, { key });
    expect(answer.status).toBe(202);
    await world.api.ended(answer);
  });

  test('of forty concurrent repetitions of a command one has an effect and all get its answer', async () => {
    const [, put] = await commands();
    const key = newKey();
    const before = (await world.readPolicy(policyId)).policy.revision;
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => send(put, { key, replica: at % 2 })));
    expect([...new Set(answers.map(({ status, text }) => `${status} ${text}`))]).toHaveLength(1);
    expect(answers[0]?.status).toBe(202);
    expect((await world.readPolicy(policyId)).policy.revision).toBe(before + 1);
  });
});
