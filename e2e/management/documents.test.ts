import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { managementTable } from '../../operator/management/http/management-table.ts';
import { servedTable } from '../../operator/management/http/served-table.ts';
import { verifies } from '../support/verifies.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';

const own = '/api/v1/guardrail-management/openapi.json';
const common = '/openapi.json';

const paths = [
  ['get', '/api/v1/guardrail-policies'],
  ['post', '/api/v1/guardrail-policies'],
  ['get', '/api/v1/guardrail-policies/{policyId}'],
  ['put', '/api/v1/guardrail-policies/{policyId}'],
  ['get', '/api/v1/guardrail-policies/{policyId}/revisions'],
  ['get', '/api/v1/guardrail-policies/{policyId}/revisions/{revision}'],
  ['get', '/api/v1/guardrail-providers'],
  ['get', '/api/v1/models/{modelId}/guardrail-binding'],
  ['put', '/api/v1/models/{modelId}/guardrail-binding'],
  ['get', '/api/v1/operations/{operationId}'],
];

/** SHA-256 of the served document. Consumers pin the digest: a change of the digest is a change of the contract. */
const pinned = 'c7f6a37925e0c65658de6110261bff71afb25b5ede4bfa6aaca48cd75c407a68';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the documents of the management API'), () => {
  let world: ManagementWorld;

  beforeAll(async () => {
    world = await openManagementWorld();
    const file = join(world.environmentDirectory, 'providers.yaml');
    writeFileSync(
      file,
      [
        'providers:',
        '  - { name: scan, kind: detector, endpoint: "http://10.0.0.1/scan", credential: scan-key }',
        '  - { name: judge, kind: classifier, endpoint: "http://10.0.0.2/v1", model: small, credential: judge-key }',
        '  - { name: echo, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }',
      ].join('\n'),
    );
    await world.api.startReplica(1);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  verifies(
    ['management:version:contract', 'management:schema:routes-excluded'],
    'the ten management routes are in their own OpenAPI document and not in the common one',
    async () => {
      const document = await world.api.call(own, { token: null });
      expect(document.status).toBe(200);
      expect(document.headers['content-type']).toBe('application/json');
      expect(document.json.openapi).toMatch(/^3\.1\./);
      expect(document.json.info.version).toBe('platform.control-plane.guardrail-management/v1');
      const listed = Object.entries<Record<string, unknown>>(document.json.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => [method, path]),
      );
      expect(listed.toSorted()).toEqual(paths.toSorted());
      const other = await world.api.call(common, { token: null });
      expect(other.status).toBe(200);
      for (const [, path] of paths) expect(Object.keys(other.json.paths)).not.toContain(path);
      expect(Object.keys(other.json.paths).toSorted()).toEqual(
        [
          '/api/v1/approval-rules',
          '/api/v1/approval-rules/release',
          '/api/v1/approval-rules/require',
          '/api/v1/approvals',
          '/api/v1/approvals/{approvalId}/approve',
          '/api/v1/audit',
          '/api/v1/audit/chains',
          '/api/v1/dry-runs/guardrail-policies',
          '/api/v1/dry-runs/guardrail-policies/{policyId}',
          '/api/v1/dry-runs/models/{modelId}/guardrail-binding',
          '/api/v1/freezes',
          '/api/v1/freezes/{freezeId}/remove',
          '/api/v1/operations',
          '/api/v1/policy-diffs/{policyId}',
          '/api/v1/policy-histories/{policyId}',
          '/api/v1/policy-purges/{policyId}/{revision}',
          '/api/v1/rights',
          '/api/v1/rights/grant',
          '/api/v1/rights/revoke',
          common,
          own,
        ].toSorted(),
      );
    },
  );

  test('the served OpenAPI document has the pinned digest', async () => {
    expect(sha256Hex((await world.api.call(own, { token: null })).text)).toBe(pinned);
  });

  test('the management API serves exactly the routes of the contract, and in addition reads of resources, agents, decisions, providers, audit entries, rights, dry runs, differences, histories, purges, approvals, freeze windows and operations', async () => {
    const contract = managementTable.operations.map(({ method, path }) => [method.toLowerCase(), path]);
    expect(contract.toSorted()).toEqual(paths.toSorted());
    const others = servedTable.operations.slice(contract.length);
    expect(others.map(({ method, path, gates }) => [method, path, gates[0]])).toEqual([
      ['GET', '/api/v1/resources', 'identity'],
      ['GET', '/api/v1/resources/{plural}', 'identity'],
      ['GET', '/api/v1/resources/{plural}/{name}', 'identity'],
      ['GET', '/api/v1/agents', 'identity'],
      ['GET', '/api/v1/agents/{agentId}', 'identity'],
      ['GET', '/api/v1/agents/{agentId}/versions/{versionId}/flow', 'identity'],
      ['GET', '/api/v1/agent-versions/without-agent', 'identity'],
      ['GET', '/api/v1/activity', 'identity'],
      ['GET', '/api/v1/decision-counts', 'identity'],
      ['GET', '/api/v1/overview', 'identity'],
      ['GET', '/api/v1/own-rights', 'identity'],
      ['POST', '/api/v1/policy-checks', 'identity'],
      ['POST', '/api/v1/provider-test', 'identity'],
      ['GET', '/api/v1/audit', 'identity'],
      ['GET', '/api/v1/audit/chains', 'identity'],
      ['GET', '/api/v1/rights', 'identity'],
      ['POST', '/api/v1/rights/grant', 'identity'],
      ['POST', '/api/v1/rights/revoke', 'identity'],
      ['POST', '/api/v1/dry-runs/guardrail-policies', 'identity'],
      ['POST', '/api/v1/dry-runs/guardrail-policies/{policyId}', 'identity'],
      ['POST', '/api/v1/dry-runs/models/{modelId}/guardrail-binding', 'identity'],
      ['GET', '/api/v1/policy-diffs/{policyId}', 'identity'],
      ['GET', '/api/v1/policy-histories/{policyId}', 'identity'],
      ['POST', '/api/v1/policy-purges/{policyId}/{revision}', 'identity'],
      ['GET', '/api/v1/approvals', 'identity'],
      ['POST', '/api/v1/approvals/{approvalId}/approve', 'identity'],
      ['GET', '/api/v1/approval-rules', 'identity'],
      ['POST', '/api/v1/approval-rules/require', 'identity'],
      ['POST', '/api/v1/approval-rules/release', 'identity'],
      ['GET', '/api/v1/freezes', 'identity'],
      ['POST', '/api/v1/freezes', 'identity'],
      ['POST', '/api/v1/freezes/{freezeId}/remove', 'identity'],
      ['GET', '/api/v1/operations', 'identity'],
    ]);
  });

  test('resources are read by name with a platform token, and only of kinds without addresses', async () => {
    const { id } = await world.createPolicy('by-name');
    const modelId = await world.createModel('read-by-name');
    const of = (path: string, options = {}) => world.api.call(`/api/v1/resources${path}`, options);
    const { json: found } = await of('');
    expect(found.kinds).toEqual(['guardrailpolicies', 'policyrevisions', 'modelbindings']);
    expect((await of('', { token: null })).status).toBe(401);
    const policies = await of(`/guardrailpolicies?labelSelector=portcullis.dev/id=${id}`);
    expect([policies.json.items.length, policies.json.continue]).toEqual([1, null]);
    const [{ metadata, spec }] = policies.json.items;
    expect([metadata.labels['portcullis.dev/id'], spec.displayName]).toEqual([id, 'by-name']);
    expect((await of(`/guardrailpolicies/${metadata.name}`)).json.metadata.uid).toBe(metadata.uid);
    const bindings = await of(`/modelbindings?labelSelector=portcullis.dev/id=${modelId}`);
    expect((await of(`/modelbindings/${bindings.json.items[0].metadata.name}`)).status).toBe(200);
    const page = await of('/policyrevisions?limit=1');
    expect(page.json.items).toHaveLength(1);
    const all = await of('/policyrevisions?limit=500');
    expect(all.json.items.length).toBeGreaterThan(0);
    for (const [path, status, code] of [
      ['/gatewayroutes', 404, 'not_found'],
      ['/runtimeworkloads/x', 404, 'not_found'],
      ['/guardrailpolicies/none', 404, 'policy_not_found'],
      ['/modelbindings/none', 404, 'model_not_found'],
      ['/policyrevisions/none', 404, 'revision_not_found'],
      ['/modelbindings/UPPER', 404, 'not_found'],
      ['/modelbindings?limit=501', 400, 'invalid_query'],
      ['/modelbindings?limit=0', 400, 'invalid_query'],
      ['/modelbindings?labelSelector=a', 400, 'invalid_query'],
      ['/modelbindings?continue=other&limit=1', 400, 'cursor_invalid'],
    ] as const) {
      const answer = await of(path);
      expect([path, answer.status, answer.json.error.code]).toEqual([path, status, code]);
    }
  });

  test('answers of the management API match the schemas of its OpenAPI document', async () => {
    const { json: document } = await world.api.call(own, { token: null });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'api');
    const { id } = await world.createPolicy('described');
    const modelId = await world.createModel('described-model');
    const applied = await world.applied(modelId, id, 1);
    const rows: readonly (readonly [string, string])[] = [
      ['/api/v1/guardrail-policies', 'PolicyList'],
      [`/api/v1/guardrail-policies/${id}`, 'Policy'],
      [`/api/v1/guardrail-policies/${id}/revisions`, 'RevisionList'],
      [`/api/v1/guardrail-policies/${id}/revisions/1`, 'Policy'],
      ['/api/v1/guardrail-providers', 'ProviderList'],
      [`/api/v1/models/${modelId}/guardrail-binding`, 'Binding'],
      [`/api/v1/operations/${applied.json.operationId}`, 'Operation'],
      ['/api/v1/operations/none', 'Error'],
    ];
    for (const [path, name] of rows) {
      const validate = ajv.getSchema(`api#/components/schemas/${name}`);
      const { json } = await world.api.call(path);
      expect([path, validate?.(json), validate?.errors]).toEqual([path, true, null]);
    }
  });

  verifies(
    [
      'management:providers-get:approved',
      'management:providers-get:environment',
      'management:providers:no-secret-read',
    ],
    'the provider list contains the approved external checks without addresses and secrets',
    async () => {
      const listOf = async (replica: number) => (await world.api.call('/api/v1/guardrail-providers', { replica })).json;
      await until('the first replica has read the changed file', async () => (await listOf(0)).items.length > 0);
      expect(await listOf(0)).toEqual(await listOf(1));
      expect(await listOf(1)).toEqual({
        items: [
          {
            name: 'judge',
            kind: 'classifier',
            profile: 'generic.chat-completions.classifier/v1',
            credentialRef: { name: 'judge-key' },
          },
          {
            name: 'scan',
            kind: 'detector',
            contract: 'platform.guardrail-runtime.detector/v1',
            credentialRef: { name: 'scan-key' },
          },
        ],
      });
    },
  );
});
