import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { definitionOf } from '../../operator/testing/objects.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { newKey } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

/** A command; undefined for an omitted header. */
type Request = {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: unknown;
  readonly token?: string | null;
  readonly key: string | undefined;
  readonly etag: string | undefined;
  readonly type: string;
};

/** The error of a gate, and a mutation that makes a request fail it. */
type Gate = readonly [status: number, code: string, fault: (request: Request) => Request];

const change =
  (change: Partial<Request>) =>
  (request: Request): Request => ({ ...request, ...change });

describe.skipIf(missingPostgres !== undefined)(onPostgres('the gates of a command'), () => {
  let world: ManagementWorld;
  let policyId: string;
  let modelId: string;
  let stranger: string;
  const usedKey = newKey();

  beforeAll(async () => {
    world = await openManagementWorld();
    policyId = (await world.createPolicy('behind-gates')).id;
    modelId = await world.createModel('behind-gates');
    stranger = await world.api.mint({ subject: 'another-subject' });
    const body = { name: 'used', definition: definitionOf('used') };
    await world.api.ended(await world.api.command('POST', list, body, { key: usedKey }));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const who: readonly Gate[] = [
    [401, 'unauthenticated', change({ token: null })],
    [403, 'permission_denied', (request) => ({ ...request, token: stranger })],
  ];
  const id: Gate = [400, 'invalid_path_id', (request) => ({ ...request, path: withoutId(request.path) })];
  const transport: readonly Gate[] = [
    [415, 'unsupported_media_type', change({ type: 'text/plain' })],
    [413, 'body_too_large', change({ body: Buffer.alloc(1_048_577, ' ') })],
    [400, 'idempotency_key_missing', change({ key: undefined })],
    [400, 'idempotency_key_invalid', change({ key: 'too-short' })],
    [409, 'idempotency_key_reused', change({ key: usedKey })],
  ];
  const precondition: readonly Gate[] = [
    [428, 'if_match_missing', change({ etag: undefined })],
    [400, 'if_match_invalid', change({ etag: 'no-tag' })],
    [412, 'etag_mismatch', change({ etag: '"stale"' })],
  ];
  const form: readonly Gate[] = [
    [400, 'invalid_json', change({ body: Buffer.from('{') })],
    [422, 'invalid_body', change({ body: {} })],
  ];
  const business: Gate = [
    409,
    'policy_revision_unknown',
    (request) => ({ ...request, body: { ...(request.body as object), policyRevision: 99 } }),
  ];

  function withoutId(path: string): string {
    return path.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/, 'one');
  }

  function send({ method, path, body, token, key, etag, type }: Request) {
    const headers = { 'content-type': type, 'idempotency-key': key, 'if-match': etag };
    return world.api.command(method, path, body, { headers, ...(token === undefined ? {} : { token }) });
  }

  async function expectOrder(right: Request, gates: readonly Gate[]): Promise<void> {
    const before = await world.objects();
    for (const [at, [status, code]] of gates.entries()) {
      // A request with the faults of this and all later gates; if two faults contradict each other, the earlier one is
      // used.
      const faulty = gates.slice(at).reduceRight((request, [, , fault]) => fault(request), right);
      const answer = await send(faulty);
      expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    }
    expect(await world.objects()).toEqual(before);
    const answer = await send(right);
    const location = `/api/v1/operations/${answer.json.operationId}`;
    expect([answer.status, answer.headers['location']]).toEqual([202, location]);
    expect(await world.api.ended(answer)).toMatchObject({ state: 'succeeded' });
  }

  const type = 'application/json';

  test('the gates of POST policy are evaluated in order', async () => {
    const body = { name: 'made', definition: definitionOf('made') };
    const right = { method: 'POST', path: list, body, key: newKey(), etag: undefined, type } as const;
    await expectOrder(right, [...who, ...transport, ...form]);
  });

  test('the gates of PUT policy are evaluated in order', async () => {
    const path = `${list}/${policyId}`;
    const { etag, policy } = await world.readPolicy(policyId);
    const { name, status, definition } = policy;
    const right = { method: 'PUT', path, body: { name, status, definition }, key: newKey(), etag, type } as const;
    await expectOrder(right, [...who, id, ...transport, ...precondition, ...form]);
  });

  test('the gates of PUT binding are evaluated in order', async () => {
    const path = `/api/v1/models/${modelId}/guardrail-binding`;
    const { headers } = await world.readBinding(modelId);
    const body = { policyId, policyRevision: 1, contentProfile: currentProfile };
    const right = { method: 'PUT', path, body, key: newKey(), etag: String(headers['etag']), type } as const;
    await expectOrder(right, [...who, id, ...transport, ...precondition, ...form, business]);
  });
});
