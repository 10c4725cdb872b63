import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { currentProfile } from '#contracts/profiles';
import { unusedPort } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { agentIdOf } from '../../operator/agents/agent-bundle.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { deniedTerm, sampleBundle } from '../support/sample-policy.ts';
import { startTestRuntime } from '../support/start-test-runtime.ts';
import { verifies } from '../support/verifies.ts';
import { onResourceServers } from './on-resource-servers.ts';
import type { ManagementWorld } from './open-management-world.ts';
import { audience, issuer, newKey } from './start-management.ts';

onResourceServers('authorization of the management API', (openWorld) => {
  let world: ManagementWorld;
  let policyId: string;
  let modelId: string;
  let operationId: string;

  beforeAll(async () => {
    world = await openWorld();
    policyId = (await world.createPolicy('guarded-words')).id;
    modelId = await world.createModel('chat');
    const accepted = await world.apply(modelId, policyId, 1);
    operationId = (await world.api.ended(accepted)).operationId;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const reads = () => [
    '/api/v1/guardrail-policies',
    `/api/v1/guardrail-policies/${policyId}`,
    `/api/v1/guardrail-policies/${policyId}/revisions`,
    `/api/v1/guardrail-policies/${policyId}/revisions/1`,
    '/api/v1/guardrail-providers',
    `/api/v1/models/${modelId}/guardrail-binding`,
    `/api/v1/operations/${operationId}`,
  ];

  const commands = () => world.commandsOn(policyId, modelId);

  async function expectAllRefused(token: string | null, status: number, code: string): Promise<void> {
    const before = await world.objects();
    for (const path of reads()) {
      const answer = await world.api.call(path, { token });
      expect([path, answer.status, answer.json.error.code]).toEqual([path, status, code]);
      expect(answer.text).not.toContain('guarded-words');
      expect(answer.json.error).toMatchObject({ details: [], traceId: expect.stringMatching(/^[0-9a-f]{32}$/) });
    }
    for (const { method, path, body, etag } of await commands()) {
      const answer = await world.api.command(method, path, body, { etag, token });
      expect([path, answer.status, answer.json.error.code]).toEqual([path, status, code]);
    }
    expect(await world.objects()).toEqual(before);
  }

  verifies(
    ['management:auth:missing-or-invalid'],
    'every method of the management API refuses a missing or invalid token with 401 and returns no policy data',
    async () => {
      const valid = await world.api.mint();
      const invalid = [
        null,
        'no-token',
        `${valid.slice(0, -6)}AAAAAA`,
        await world.api.mint({ audience: 'another-audience' }),
        await world.api.mint({ ttlSeconds: -3_600 }),
      ];
      for (const token of invalid) await expectAllRefused(token, 401, 'unauthenticated');
      const twice = await world.api.call('/api/v1/guardrail-policies', {
        token: null,
        headers: { authorization: [`Bearer ${valid}`, `Bearer ${valid}`] },
      });
      expect(twice.status).toBe(401);
      expect(twice.headers['www-authenticate']).toBe('Bearer');
    },
  );

  verifies(
    ['management:auth:administer-reads', 'management:auth:administer-writes'],
    'a valid token without the permission reads and changes nothing in the management API',
    async () => {
      await expectAllRefused(await world.api.mint({ subject: 'another-subject' }), 403, 'permission_denied');
    },
  );

  test('the owner of an agent reads it and its flow without a role; every other agent is refused like an absent one', async () => {
    const { client, api } = world;
    const sample = sampleAgentVersion('owned-1');
    const version = await client.create<AgentVersion>(kinds.agentVersion, {
      ...sample,
      spec: { ...sample.spec, agent: 'owned' },
    });
    for (const [name, subject] of [
      ['owned', 'agent-owner'],
      ['borrowing', 'agent-owner'],
      ['foreign', 'another-owner'],
    ] as const) {
      const agent = sampleAgent(name, 'owned-1');
      await client.create(kinds.agent, { ...agent, spec: { ...agent.spec, owner: { issuer, subject } } });
    }
    const pathsOf = (name: string) => {
      const path = `/api/v1/agents/${agentIdOf(client.namespace, name)}`;
      return [path, `${path}/versions/${version.metadata.uid}/flow`];
    };
    const statuses = async (paths: readonly string[], request: Parameters<typeof api.mint>[0]) => {
      const token = await api.mint(request);
      return Promise.all(paths.map(async (path) => (await api.call(path, { token })).status));
    };
    const owner = { subject: 'agent-owner' };
    expect(await statuses(pathsOf('owned'), owner)).toEqual([200, 200]);
    // The agent names a version of another agent, whose flow stays hidden.
    expect(await statuses(pathsOf('borrowing'), owner)).toEqual([200, 404]);
    const others = [...pathsOf('foreign'), ...pathsOf('absent'), '/api/v1/agents'];
    expect(await statuses(others, owner)).toEqual([403, 403, 403, 403, 403]);
    const actors = [{ issuer, subject: 'service' }];
    expect(await statuses(pathsOf('owned'), { ...owner, actors })).toEqual([403, 403]);
    expect(await statuses([...pathsOf('owned'), ...pathsOf('absent')], {})).toEqual([200, 200, 404, 404]);
  });

  verifies(
    ['management:auth:platform-token', 'management:schema:routes-available'],
    'a valid platform token of an administrator is accepted on every method of the management API',
    async () => {
      for (const path of reads()) expect([path, (await world.api.call(path)).status]).toEqual([path, 200]);
      for (const { method, path, body, etag } of await commands()) {
        const answer = await world.api.command(method, path, body, { etag });
        expect([path, answer.status]).toEqual([path, 202]);
        await world.api.ended(answer);
      }
    },
  );

  verifies(
    ['management:auth:text-check-token'],
    'the management API refuses the service token of the text check on every method with 401',
    async () => {
      const [serviceToken = ''] = readFileSync(world.serviceTokenFile, 'utf8').split('\n');
      expect(serviceToken).not.toBe('');
      await expectAllRefused(serviceToken, 401, 'unauthenticated');
    },
  );

  verifies(
    ['management:auth:retrieval-and-memory'],
    'the retrieval and memory services may not administer and get 403, and their text checks are answered',
    async () => {
      const bundle = sampleBundle();
      using folder = temporaryFolder();
      const file = (name: string, text: string): string => {
        writeFileSync(join(folder.path, name), text, { mode: 0o600 });
        return join(folder.path, name);
      };
      const serviceToken = randomUUID();
      const bundleFile = file('bundle.json', JSON.stringify(bundle));
      await using runtime = await startTestRuntime(bundleFile, file('runtime.token', `${serviceToken}\n`));
      const check = (token: string, content: string) =>
        fetch(`${runtime.url}/request`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'x-ap-gr-policy-id': 'sample',
            'x-ap-gr-policy-revision': '1',
            'x-ap-gr-bundle-digest': digestOf(bundle),
            'x-ap-gr-content-profile': currentProfile,
            'x-ap-gr-response-mode': 'buffered',
          },
          body: JSON.stringify({ body: { messages: [{ role: 'user', content }] } }),
        });
      const { sql } = world.api.database.database;
      for (const subject of ['retrieval', 'memory']) {
        const identity = await world.api.mint({ subject });
        await expectAllRefused(identity, 403, 'permission_denied');
        const granted = await sql`
          select from relations.tuples where relation = 'administer' and subject like ${`%|${subject}`}`;
        expect([subject, granted.length]).toEqual([subject, 0]);
        const passed = await check(serviceToken, 'a harmless document');
        expect([passed.status, await passed.json()]).toEqual([200, { action: { reason: 'policy_pass' } }]);
        const blocked = await check(serviceToken, `a ${deniedTerm}`);
        expect(await blocked.json()).toMatchObject({ action: { reason: 'policy_denied', status_code: 403 } });
        // The right to check texts is granted by the service token; the management API does not accept it.
        expect((await check(identity, 'a harmless document')).status).toBe(401);
      }
    },
  );

  test("a token is refused with 503 when its issuer's keys cannot be fetched; the replica stays ready and counts the failure", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'issuers.yaml');
    const unreachable = `http://127.0.0.1:${await unusedPort()}/jwks.json`;
    writeFileSync(file, `issuers:\n  - { issuer: "${issuer}", audience: ${audience}, jwksUrl: "${unreachable}" }\n`);
    await using replica = await world.api.startReplica(1, { PORTCULLIS_ISSUERS_FILE: file });
    const refused = await world.api.call('/api/v1/guardrail-policies', { replica: 1 });
    expect([refused.status, refused.json.error.code]).toEqual([503, 'identity_unavailable']);
    const line =
      replica
        .log()
        .split('\n')
        .find((one) => one.includes('keys_unavailable')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({ issuer, traceId: refused.json.error.traceId });
    const at = (path: string) => fetch(`${replica.ready['admin']}${path}`);
    expect((await at('/readyz')).status).toBe(200);
    const metrics = await (await at('/metrics')).text();
    expect(metrics).toMatch(
      /^portcullis_management_issuer_keys_unavailable_total\{issuer="http:\/\/issuer\.test",.*\} 1$/m,
    );
  });

  test('a token whose actor lacks the permission is refused with 403, although its subject is an administrator', async () => {
    const token = await world.api.mint({ actors: [{ issuer: 'http://issuer.test', subject: 'an-agent' }] });
    const answer = await world.api.call('/api/v1/guardrail-policies', { token });
    expect([answer.status, answer.json.error.code]).toEqual([403, 'permission_denied']);
  });

  test('the management API answers an unknown path with 404 and another method with 405, with an error body and the trace of the request', async () => {
    const unknown = await world.api.call('/api/v1/guardrail-policie');
    expect([unknown.status, unknown.json.error.code]).toEqual([404, 'not_found']);
    const method = await world.api.call('/api/v1/operations', { method: 'DELETE' });
    expect([method.status, method.json.error.code, method.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD',
    ]);
    const patch = await world.api.call(`/api/v1/guardrail-policies/${policyId}`, { method: 'PATCH', body: {} });
    expect([patch.status, patch.json.error.code, patch.headers['allow']]).toEqual([
      405,
      'method_not_allowed',
      'GET, PUT, HEAD',
    ]);
    const trace = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
    const traced = await world.api.call('/api/v1/guardrail-policie', { headers: { traceparent: trace } });
    expect(traced.json.error.traceId).toBe('ab'.repeat(16));
    expect(traced.headers['traceparent']).toContain('ab'.repeat(16));
  });

  test('a path id that is not a UUID of version 7 is refused with 400; an upper-case id is equal to its lower-case form', async () => {
    for (const path of [
      '/api/v1/guardrail-policies/one',
      '/api/v1/guardrail-policies/5f6a1d0e-8a55-4d8e-9e4c-0d9d2f1a2b3c',
      '/api/v1/models/one/guardrail-binding',
      '/api/v1/operations/one',
      `/api/v1/guardrail-policies/${policyId}/revisions/0`,
      `/api/v1/guardrail-policies/${policyId}/revisions/01`,
      `/api/v1/guardrail-policies/${policyId}/revisions/latest`,
    ]) {
      const answer = await world.api.call(path);
      expect([path, answer.status, answer.json.error.code]).toEqual([path, 400, 'invalid_path_id']);
    }
    const upper = await world.api.call(`/api/v1/guardrail-policies/${policyId.toUpperCase()}`);
    expect([upper.status, upper.json.id]).toEqual([200, policyId]);
  });

  test('an absent policy, revision, model or operation is answered with 404 and its own code', async () => {
    const absent = '01900000-0000-7000-8000-000000000000';
    const rows = [
      [`/api/v1/guardrail-policies/${absent}`, 'policy_not_found'],
      [`/api/v1/guardrail-policies/${absent}/revisions`, 'policy_not_found'],
      [`/api/v1/guardrail-policies/${absent}/revisions/1`, 'policy_not_found'],
      [`/api/v1/guardrail-policies/${policyId}/revisions/999`, 'revision_not_found'],
      [`/api/v1/guardrail-policies/${policyId}/revisions/2147483648`, 'revision_not_found'],
      [`/api/v1/guardrail-policies/${policyId}/revisions/${'9'.repeat(40)}`, 'revision_not_found'],
      [`/api/v1/models/${absent}/guardrail-binding`, 'model_not_found'],
      [`/api/v1/operations/${absent}`, 'operation_not_found'],
    ] as const;
    for (const [path, code] of rows) {
      const answer = await world.api.call(path);
      expect([path, answer.status, answer.json.error.code]).toEqual([path, 404, code]);
    }
    const put = await world.api.command('PUT', `/api/v1/guardrail-policies/${absent}`, {}, { etag: '"x"' });
    expect([put.status, put.json.error.code]).toEqual([404, 'policy_not_found']);
  });

  test('an idempotency key is stored with issuer and subject of its owner', async () => {
    const { database } = world.api;
    const key = newKey();
    const body = { name: 'mine', definition: definitionOf('y') };
    const first = await world.api.command('POST', '/api/v1/guardrail-policies', body, { key });
    expect(first.status).toBe(202);
    const [row] = await database.database.sql`select subject from management.idempotency_keys where key = ${key}`;
    expect(row?.['subject']).toBe('user:http%3A//issuer.test|root-admin');
  });
});
