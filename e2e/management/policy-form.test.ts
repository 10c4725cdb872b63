import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import { definitionOf, policyObject, sectionOf } from '../../operator/testing/objects.ts';
import { verifies } from '../support/verifies.ts';
import { policyNameOf } from './actions.ts';
import type { HttpResponse } from './call-api.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';

const list = '/api/v1/guardrail-policies';

onResourceServers('the form of a policy', (openWorld) => {
  let world: ManagementWorld;
  let policyId: string;

  beforeAll(async () => {
    world = await openWorld();
    policyId = (await world.createPolicy('standing')).id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const valid = (change: Readonly<Record<string, unknown>> = {}) => ({
    name: 'a-policy',
    definition: definitionOf('word'),
    ...change,
  });
  const definition = (change: Readonly<Record<string, unknown>>) =>
    valid({ definition: { ...definitionOf('w'), ...change } });
  const without = (body: Readonly<Record<string, unknown>>, name: string) =>
    Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

  const post = (body: unknown): Promise<HttpResponse> => world.api.command('POST', list, body);

  /** Sends a PUT with the current ETag. */
  async function put(body: Readonly<Record<string, unknown>>): Promise<HttpResponse> {
    const { etag } = await world.readPolicy(policyId);
    return world.api.command('PUT', `${list}/${policyId}`, body, { etag });
  }
  const full = (body: Readonly<Record<string, unknown>>) => ({ status: 'draft', ...body });

  /** Expects that a POST and a PUT of the body are refused with 422 and that nothing is created. */
  async function expectRefused(bodies: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    const before = await world.objects();
    for (const body of bodies) {
      for (const answer of [await post(body), await put(full(body))]) {
        expect([JSON.stringify(body).slice(0, 200), answer.status]).toEqual([JSON.stringify(body).slice(0, 200), 422]);
        expect(answer.json.error.code).toBe('invalid_body');
        expect(answer.json.error.details.length).toBeGreaterThan(0);
      }
    }
    expect(await world.objects()).toEqual(before);
  }

  /** Expects that a POST and a PUT of the body are accepted. */
  async function expectAccepted(bodies: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    for (const body of bodies) {
      for (const answer of [await post(body), await put(full(body))]) {
        expect([JSON.stringify(body).slice(0, 200), answer.status]).toEqual([JSON.stringify(body).slice(0, 200), 202]);
        expect((await world.api.ended(answer)).state).toBe('succeeded');
      }
    }
  }

  verifies(
    ['management:policy-name:length', 'management:limit:name-and-description', 'management:policy-description:length'],
    'a policy name of 1 to 128 and a description of up to 2048 characters is accepted by POST and PUT',
    async () => {
      await expectAccepted([
        valid({ name: 'a' }),
        valid({ name: 'a'.repeat(128) }),
        valid({ description: '' }),
        valid({ description: 'я'.repeat(2_048) }),
        valid({ description: '𝒳'.repeat(2_048) }),
      ]);
      await expectRefused([
        valid({ name: '' }),
        valid({ name: 'a'.repeat(129) }),
        valid({ description: 'я'.repeat(2_049) }),
        valid({ description: '𝒳'.repeat(2_049) }),
      ]);
    },
  );

  verifies(
    ['management:policy-name:type', 'management:policy-description:type', 'management:definition:object'],
    'a policy with a name or description that is not a string, or a definition that is not an object, is refused',
    async () => {
      const others = [1, true, null, [], {}];
      await expectRefused([
        ...others.map((name) => valid({ name })),
        ...others.map((description) => valid({ description })),
        ...['{}', [], null, 1].map((wrong) => valid({ definition: wrong })),
      ]);
    },
  );

  verifies(
    ['management:policy-name:first-character', 'management:policy-name:charset'],
    'a policy name that does not begin with a Latin letter or digit, or has other characters, is refused',
    async () => {
      await expectAccepted(['a1', '1a', 'a.b-c_1', 'Z'].map((name) => valid({ name })));
      const wrong = ['.a', '-a', '_a', 'a b', 'a/b', 'a:b', 'имя', 'aя', 'a\n', ' a', 'a\u0000'];
      await expectRefused(wrong.map((name) => valid({ name })));
    },
  );

  verifies(
    ['management:policy-name:charset', 'management:policy-description:length'],
    "the resource has the same rules for a policy's name and description, so that every policy that is read can be saved",
    async () => {
      const create = (name: string, displayName: string, description = '') =>
        world.client.create(kinds.guardrailPolicy, policyObject(name, { displayName, description }));
      for (const [at, displayName] of ['two words', 'имя', '.a', 'a/b', 'a'.repeat(129), ''].entries()) {
        await expect(create(`wrong-name-${at}`, displayName)).rejects.toMatchObject({ code: 'invalid' });
      }
      await expect(create('long', 'a', 'я'.repeat(2_049))).rejects.toMatchObject({ code: 'invalid' });
      await create('bounds', `a.b-c_1${'Z'.repeat(121)}`, 'я'.repeat(2_048));
      const id = await until('the policy has its id', async () => {
        const found = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'bounds');
        return found?.metadata.labels?.[idLabel];
      });
      expect(await world.savePolicy(id)).toBe(2);
    },
  );

  verifies(
    [
      'management:policy-description:default',
      'management:status:not-required-on-post',
      'management:policy-create:202',
      'management:policy-id:uuidv7',
      'management:if-match:not-on-post',
    ],
    'a POST of a policy needs no description, status or If-Match',
    async () => {
      const answer = await post(valid());
      expect(answer.status).toBe(202);
      const operation = await world.api.ended(answer);
      const { policy } = await world.readPolicy(operation.target.id);
      expect(policy).toMatchObject({ description: '', status: 'draft', revision: 1 });
      expect(policy.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    },
  );

  test('a PUT of a policy without a description makes it empty', async () => {
    await world.savePolicy(policyId, { description: 'something' });
    await world.api.ended(await put(full(valid())));
    expect((await world.readPolicy(policyId)).policy.description).toBe('');
  });

  verifies(
    [
      'management:definition:keys',
      'management:definition:sections',
      'management:definition:providers-array',
      'management:unknown-field:nested',
    ],
    'a policy definition without its sections and providers, or with an unknown member at any depth, is refused',
    async () => {
      const section = sectionOf('word');
      const [rule] = section.baseline;
      await expectAccepted([definition({ providers: [{ name: 'p', credentialRef: { name: 'c' } }] })]);
      await expectRefused([
        definition({ other: {} }),
        definition({ request: 'section' }),
        definition({ request: 1 }),
        definition({ response: [] }),
        definition({ providers: {} }),
        definition({ providers: 'p' }),
        valid({ definition: without(definitionOf('w'), 'providers') }),
        valid({ definition: without(definitionOf('w'), 'request') }),
        definition({ request: { ...section, extra: 1 } }),
        definition({ request: { ...section, baseline: [{ ...rule, extra: 1 }] } }),
        definition({ providers: [{ name: 'p', credentialRef: { name: 'c' }, extra: 1 }] }),
        definition({ providers: [{ name: 'p', credentialRef: { name: 'c', extra: 1 } }] }),
      ]);
    },
  );

  verifies(
    ['management:definition:request-mandatory-rule', 'management:definition:response-mandatory-rule'],
    'a policy section without a baseline rule is refused',
    async () => {
      const section = sectionOf('word');
      const observed = section.baseline.map((rule) => ({ ...rule, mode: 'observe' }));
      const wrong = [
        { ...section, baseline: [] },
        { ...section, baseline: [], additional: observed },
      ];
      await expectAccepted([definition({ request: section, response: { ...section, additional: [] } })]);
      await expectRefused([
        ...wrong.map((request) => definition({ request })),
        ...wrong.map((response) => definition({ response })),
      ]);
    },
  );

  verifies(
    ['management:status:values', 'management:status:required-on-put', 'management:policy-put:full-body'],
    'a PUT of a policy without name, definition or a status of draft or archived is refused',
    async () => {
      const before = await world.objects();
      const body = full(valid());
      for (const status of ['active', 'applied', 'Draft', '', 'DRAFT', null, 1]) {
        expect([status, (await put({ ...body, status })).status]).toEqual([status, 422]);
      }
      for (const name of ['status', 'name', 'definition']) {
        expect([name, (await put(without(body, name))).status]).toEqual([name, 422]);
      }
      expect(await world.objects()).toEqual(before);
      for (const status of ['archived', 'draft']) {
        expect((await world.api.ended(await put({ ...body, status }))).state).toBe('succeeded');
        expect((await world.readPolicy(policyId)).policy.status).toBe(status);
      }
    },
  );

  verifies(
    [
      'management:rule-count:read-field',
      'management:rule-kinds:read-field',
      'management:unknown-field:post',
      'management:unknown-field:put',
      'management:policy-create:body',
      'management:apply:separate-operation',
      'management:binding-target:no-retrieval-collection',
      'management:binding-target:no-memory-type',
      'management:binding-target:no-write-operation',
    ],
    'a policy write with read-only or unknown fields is refused, and no path binds a policy to anything but a model',
    async () => {
      const { policy } = await world.readPolicy(policyId);
      await expectRefused([
        valid({ ruleCount: 2 }),
        valid({ ruleKinds: ['stop_list'] }),
        valid({ revision: 2 }),
        valid({ id: policy.id }),
        valid({ definitionDigest: policy.definitionDigest }),
        valid({ createdAt: policy.createdAt }),
        valid({ unknown: 1 }),
        valid({ modelId: policy.id }),
        valid({ apply: true }),
        valid({ collectionId: policy.id }),
        valid({ memoryType: 'episodic' }),
        valid({ writeOperation: 'ingest' }),
      ]);
      expect((await post(valid({ status: 'draft' }))).status).toBe(422);
      for (const name of ['name', 'definition']) expect((await post(without(valid(), name))).status).toBe(422);
      for (const path of [
        '/api/v1/collections/one/guardrail-binding',
        '/api/v1/memory-types/one/guardrail-binding',
        '/api/v1/write-operations/one/guardrail-binding',
      ]) {
        const answer = await world.api.command('PUT', path, { policyId, policyRevision: 1 }, { etag: '"x"' });
        expect([path, answer.status]).toEqual([path, 404]);
      }
      const asQuery = await world.api.call(`${list}?collectionId=one`, { method: 'POST', body: valid() });
      expect([asQuery.status, asQuery.json.error.code]).toEqual([400, 'invalid_query']);
    },
  );

  verifies(
    ['management:providers:credential-reference', 'management:providers:no-secret-read'],
    'a policy whose provider has a credential value instead of a credential reference is refused',
    async () => {
      const reference = { name: 'scanner', credentialRef: { name: 'scanner-key' } };
      const secret = 'the-secret-value';
      await expectRefused([
        definition({ providers: [{ ...reference, credential: secret }] }),
        definition({ providers: [{ name: 'scanner', credential: secret }] }),
        definition({ providers: [{ name: 'scanner', credentialRef: secret }] }),
        definition({ providers: [{ name: 'scanner', credentialRef: { name: 'k', value: secret } }] }),
        definition({ providers: [{ ...reference, endpoint: 'http://scanner' }] }),
      ]);
      await expectAccepted([definition({ providers: [reference] })]);
      const { policy } = await world.readPolicy(policyId);
      expect(policy.definition.providers).toEqual([reference]);
      const revision = await world.api.call(`${list}/${policyId}/revisions/${policy.revision}`);
      expect(revision.json.definition.providers).toEqual([reference]);
    },
  );

  test('a policy body that is not strict JSON is refused with 400, another media type with 415, and a body above 1 MiB with 413', async () => {
    const headers = (change: Readonly<Record<string, string | undefined>>) => ({ headers: change });
    for (const text of ['', '{', '{"name":"a","name":"b"}', '\ufeff{}', '{"a":1}x', '[1e999]', '"\\ud800"']) {
      const answer = await world.api.command('POST', list, Buffer.from(text));
      expect([text, answer.status, answer.json.error.code]).toEqual([text, 400, 'invalid_json']);
    }
    for (const type of ['text/plain', 'application/jsonx', undefined, 'application/json; charset=latin1']) {
      const answer = await world.api.command('POST', list, valid(), headers({ 'content-type': type }));
      expect([type, answer.status]).toEqual([type, 415]);
    }
    const encoded = await world.api.command('POST', list, valid(), headers({ 'content-encoding': 'gzip' }));
    expect([encoded.status, encoded.json.error.code]).toEqual([415, 'unsupported_media_type']);
    const spaces = (bytes: number): Buffer => {
      const text = JSON.stringify(valid({ name: 'spacious' }));
      return Buffer.from(text + ' '.repeat(bytes - text.length));
    };
    expect((await world.api.command('POST', list, spaces(1_048_576))).status).toBe(202);
    const large = await world.api.command('POST', list, spaces(1_048_577));
    expect([large.status, large.json.error.code]).toEqual([413, 'body_too_large']);
  });

  type Terms = readonly string[];
  const heavy = (terms: Terms) =>
    definition({
      request: {
        deadlineMs: 500,
        additional: [],
        baseline: [
          {
            id: 'many',
            kind: 'stop_list',
            timeoutMs: 100,
            action: { type: 'deny' },
            stopList: { terms, match: 'substring', caseSensitive: true },
          },
        ],
      },
    });

  /** Size of a definition inside a revision, where an API server escapes <, > and & to six bytes each. */
  function storedBytes({ definition: value }: Readonly<Record<string, unknown>>): number {
    const text = JSON.stringify(JSON.stringify(value));
    return Buffer.byteLength(text) + 5 * (text.match(/[<>&]/g)?.length ?? 0);
  }

  /** A policy whose stored definition has exactly this size. */
  function policyOfStoredBytes(bytes: number, filler: string): Readonly<Record<string, unknown>> {
    const numbered = Array.from({ length: 8_000 }, (_, at) => `${String(at).padStart(5, '0')}`);
    const each = storedBytes(heavy([filler])) - storedBytes(heavy(['']));
    const missing = bytes - storedBytes(heavy(numbered));
    const perTerm = Math.floor(missing / each / numbered.length);
    const filled = numbered.map((term) => term + filler.repeat(perTerm));
    const rest = bytes - storedBytes(heavy(filled));
    const last = Array.from({ length: Math.ceil(rest / 500) }, (_, at) => 'a'.repeat(Math.min(500, rest - at * 500)));
    return heavy(filled.map((term, at) => term + (last[at] ?? '')));
  }

  test('a policy definition above the size of a revision is refused with 422, one at the limit is stored', async () => {
    for (const filler of ['a', '<', '\\"', '\u0436']) {
      const [fits, large] = [1_300_000, 1_300_001].map((bytes) => policyOfStoredBytes(bytes, filler));
      expect(storedBytes(fits ?? {})).toBe(1_300_000);
      const isTooLongToSend = Buffer.byteLength(JSON.stringify(fits)) > 1_048_576;
      const refused = await post(large);
      expect([filler, refused.status, refused.json.error.code]).toEqual(
        isTooLongToSend ? [filler, 413, 'body_too_large'] : [filler, 422, 'definition_too_large'],
      );
      if (isTooLongToSend) continue;
      const stored = await world.api.ended(await post(fits));
      expect([filler, stored.state]).toEqual([filler, 'succeeded']);
    }
  });

  test('the stored tests of a policy count towards the size of its revision', async () => {
    const tests = Array.from({ length: 100 }, (_, at) => ({
      name: `test-${at}`,
      stage: 'request' as const,
      messages: [{ role: 'user', content: 'x'.repeat(4_000) }],
      expect: 'Pass' as const,
    }));
    const { id } = await world.createPolicy('tested');
    await world.client.patch(kinds.guardrailPolicy, await policyNameOf(world.client, id), [
      { op: 'add', path: '/spec/tests', value: tests },
    ]);
    const send = async (bytes: number) => {
      const { etag } = await world.readPolicy(id);
      const body = full(policyOfStoredBytes(bytes, '<'));
      return world.api.command('PUT', `${list}/${id}`, body, { etag });
    };
    const kept = JSON.stringify(tests).length;
    const refused = await send(1_300_001 - kept);
    expect([refused.status, refused.json.error.code]).toEqual([422, 'definition_too_large']);
    expect((await world.api.ended(await send(1_300_000 - kept))).state).toBe('succeeded');
  });

  test('a policy that kubectl made too large is not accepted, and a PUT repairs it', async () => {
    const accepted = async (name: string) => {
      const policy = await world.client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
      return policy?.status?.conditions?.find(({ type }) => type === 'Accepted');
    };
    const { id } = await world.createPolicy('grows');
    const name = await policyNameOf(world.client, id);
    const sized = (bytes: number) => policyOfStoredBytes(bytes, '"')['definition'];
    const edit = (value: unknown) =>
      world.client.patch(kinds.guardrailPolicy, name, [{ op: 'replace', path: '/spec/definition', value }]);
    await edit(sized(1_300_001));
    const refused = await until('the policy has Accepted False', async () => {
      const condition = await accepted(name);
      return condition?.status === 'False' ? condition : undefined;
    });
    expect([refused.reason, refused.message]).toEqual([
      'InvalidSpec',
      expect.stringContaining('exceeds, together with spec.tests, 1300000 bytes'),
    ]);
    const { policy, etag } = await world.readPolicy(id);
    expect(policy).toMatchObject({ revision: 1, definition: definitionOf('portal') });
    const healed = await world.api.command('PUT', `${list}/${id}`, full(valid()), { etag });
    expect(await world.api.ended(healed)).toMatchObject({ state: 'succeeded', result: { revision: 2 } });
    await edit(sized(1_300_000));
    await until('the policy has Accepted True', async () => (await accepted(name))?.status === 'True');
    expect((await world.readPolicy(id)).policy.revision).toBe(3);
  });
});
