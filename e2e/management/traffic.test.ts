import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { chatCall } from '../support/chat-call.ts';
import { deniedTerm, maskedTerm, replacement, sampleDefinition } from '../support/sample-policy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { type Platform, startPlatform } from '../support/start-platform.ts';
import { verifies } from '../support/verifies.ts';
import { actions, policyNameOf } from './actions.ts';
import { type RunningManagement, startManagementReplicas } from './start-management.ts';

const list = '/api/v1/guardrail-policies';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the management API and real traffic'), () => {
  const parts = new AsyncDisposableStack();
  let upstream: ScriptedUpstream;
  let platform: Platform;
  let api: RunningManagement;
  let act: ReturnType<typeof actions>;

  beforeAll(async () => {
    upstream = parts.use(await startScriptedUpstream({ kind: 'answer', content: 'a harmless answer' }));
    platform = parts.use(
      await startPlatform({
        providers: [
          { name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true },
          { name: 'away', kind: 'detector', endpoint: 'http://127.0.0.1:9/scan', credential: 'away-key' },
        ],
        secrets: { 'away-key': 'secret\n' },
      }),
    );
    api = parts.use(
      await startManagementReplicas({
        apiUrl: platform.status().addresses.api,
        tokenFile: join(platform.data, 'tokens/api.token'),
        environmentDirectory: platform.data,
        runDirectory: join(platform.data, 'run'),
      }),
    );
    act = actions(api, platform.client);
  });
  afterAll(() => parts.disposeAsync());

  const model = (alias: string) => ({
    model: { alias, provider: 'scripted', upstreamModel: 'scripted', state: 'Enabled' as const },
  });

  const say = (alias: string, content: string, more: { readonly stream?: boolean; readonly key?: string } = {}) =>
    chatCall({
      url: platform.status().addresses.gateway,
      key: more.key ?? platform.key,
      model: alias,
      content,
      stream: more.stream ?? false,
    });

  async function guardedModel(alias: string) {
    const { id } = await act.createPolicy(`${alias}-policy`, sampleDefinition());
    const modelId = await act.createModel(alias, model(alias));
    const applied = await act.applied(modelId, id, 1);
    return { id, modelId, binding: applied.json.binding };
  }

  async function checkDirectly(alias: string, change: Readonly<Record<string, string>> = {}) {
    const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, alias);
    if (route?.spec.guardrail.mode !== 'Policy') throw new Error('not guarded');
    const { addresses, headers } = route.spec.guardrail;
    const [token = ''] = readFileSync(join(platform.data, 'tokens/runtime.token'), 'utf8').split('\n');
    const body = JSON.stringify({ body: { messages: [{ role: 'user', content: `about ${deniedTerm}` }] } });
    const answer = await fetch(`${addresses[0]}/request`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'x-ap-gr-response-mode': 'buffered',
        ...headers,
        ...change,
      },
      body,
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }

  verifies(['management:save:enables-nothing'], 'saving a policy changes no binding and no traffic', async () => {
    const modelId = await act.createModel('untouched', model('untouched'));
    await act.untilState(modelId, 'unbound');
    const before = await act.readBinding(modelId);
    expect((await say('untouched', `about ${deniedTerm}`)).status).toBe(200);
    const { id } = await act.createPolicy('saved-only', sampleDefinition());
    await act.savePolicy(id);
    const after = await act.readBinding(modelId);
    const read = (answer: typeof before) => [answer.json.state, answer.json.binding, answer.headers['etag']];
    expect(read(after)).toEqual(read(before));
    expect((await say('untouched', `about ${deniedTerm}`)).status).toBe(200);
  });

  verifies(
    ['management:binding-state:to-applied', 'management:binding-state:applied', 'management:binding-state:pending'],
    'with a real runtime and gateway the state is pending until every replica confirms, and from the first `applied` on requests are checked',
    async () => {
      const { id } = await act.createPolicy('confirmed-policy', sampleDefinition());
      const modelId = await act.createModel('confirmed', model('confirmed'));
      await act.untilState(modelId, 'unbound');
      expect((await act.apply(modelId, id, 1)).status).toBe(202);
      const states: string[] = [];
      await until('the model is applied', async () => {
        states.push((await act.readBinding(modelId)).json.state);
        return states.at(-1) === 'applied';
      });
      expect((await say('confirmed', `about ${deniedTerm}`)).status).toBe(403);
      expect((await say('confirmed', 'hello')).status).toBe(200);
      expect(states[0]).toBe('pending');
      expect(states.filter((state) => state !== 'pending')).toEqual(['applied']);
    },
  );

  verifies(
    ['management:archive:keeps-protection', 'management:binding-scope:whole-model'],
    'an applied policy guards every client of the model, even after it was archived',
    async () => {
      const { id, modelId, binding } = await guardedModel('kept');
      appendFileSync(platform.status().clientKeyFile, 'a-second-client-key-of-enough-length second\n');
      const key = 'a-second-client-key-of-enough-length';
      await until(
        'the gateway accepts the second client',
        async () => (await say('kept', 'hello', { key })).status === 200,
      );
      for (const who of [platform.key, key]) {
        expect((await say('kept', `about ${deniedTerm}`, { key: who })).status).toBe(403);
        expect((await say('kept', `about ${deniedTerm}`, { key: who, stream: true })).status).toBe(403);
        const embedding = await fetch(`${platform.status().addresses.gateway}/v1/embeddings`, {
          method: 'POST',
          headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'kept', input: ['hello', `about ${deniedTerm}`] }),
        });
        expect(embedding.status).toBe(403);
      }
      await act.savePolicy(id, { status: 'archived' });
      const after = await act.readBinding(modelId);
      expect([after.json.state, after.json.binding]).toEqual(['applied', binding]);
      expect((await say('kept', `about ${deniedTerm}`)).error?.code).toBe('policy_denied');
      expect((await say('kept', 'hello')).status).toBe(200);
    },
  );

  verifies(
    ['management:protection:complete-chat-answer'],
    'no part of an answer reaches the client before the complete answer was checked',
    async () => {
      await guardedModel('whole');
      upstream.play({ kind: 'answer', content: `harmless beginning, then ${deniedTerm}` });
      const refused = await say('whole', 'hello');
      expect([refused.status, refused.error?.code]).toEqual([403, 'policy_denied']);
      expect(refused.raw).not.toContain('harmless');
      upstream.play({ kind: 'answer', content: `harmless beginning, then ${maskedTerm}` });
      expect((await say('whole', 'hello')).text).toBe(`harmless beginning, then ${replacement}`);
      upstream.play({ kind: 'answer', content: 'a harmless answer' });
    },
  );

  verifies(
    ['management:protection:unsupported-forms'],
    'streamed answers are checked under the current content profile and refused under older ones, and a read of the binding shows which',
    async () => {
      const { id, modelId } = await guardedModel('forms');
      expect((await say('forms', 'hello', { stream: true })).complete).toBe(true);
      upstream.play({ kind: 'answer', content: `first ${deniedTerm} last` });
      expect((await say('forms', 'hello', { stream: true })).complete).toBe(false);
      upstream.play({ kind: 'answer', content: 'a harmless answer' });
      const text = 'gateway-1.5.0-text-webhook-v1';
      expect((await api.ended(await act.apply(modelId, id, 1, text))).state).toBe('succeeded');
      const refused = await say('forms', 'hello', { stream: true });
      expect([refused.status, refused.error?.code]).toEqual([400, 'unsupported_for_profile']);
      const reads = [await act.readBinding(modelId), await api.call(`${list}/${id}`), await api.call(list)];
      for (const read of reads) expect(read.text).not.toMatch(/stream|tool|protect|image/i);
    },
  );

  verifies(
    ['management:apply:readiness-checks', 'management:binding-state:failed-error'],
    'a policy that does not compile or whose provider does not answer can be saved but is never applied',
    async () => {
      const modelId = await act.createModel('readiness', model('readiness'));
      const sample = sampleDefinition();
      const broken = {
        id: 'broken',
        kind: 'regex' as const,
        timeoutMs: 100,
        action: { type: 'deny' as const },
        regex: { engine: 're2-1.1.20251105' as const, pattern: '(unclosed', caseSensitive: true },
      };
      const away = {
        id: 'away',
        kind: 'external_pipeline' as const,
        timeoutMs: 500,
        action: { type: 'deny' as const },
        externalPipeline: { provider: 'away', contract: 'platform.guardrail-runtime.detector/v1' as const },
      };
      const costly = { ...broken, regex: { ...broken.regex, pattern: 'a.{0,900}b.{0,900}c.{0,900}d' } };
      const rows = [
        { rule: broken, providers: [], code: 'bundle_invalid' },
        { rule: costly, providers: [], code: 'rule_too_costly' },
        {
          rule: away,
          providers: [{ name: 'away', credentialRef: { name: 'the-key-of-another' } }],
          code: 'provider_unknown',
        },
        {
          rule: away,
          providers: [{ name: 'away', credentialRef: { name: 'away-key' } }],
          code: 'provider_unavailable',
        },
      ];
      for (const { rule, providers, code } of rows) {
        const request = { ...sample.request, baseline: [...sample.request.baseline, rule] };
        const { id } = await act.createPolicy(code.replaceAll('_', '-'), { ...sample, request, providers });
        const operation = await api.ended(await act.apply(modelId, id, 1));
        expect(operation).toMatchObject({ state: 'failed', error: { code } });
        const read = (await act.readBinding(modelId)).json;
        expect([read.state, read.observation.reason, read.binding.policyId]).toEqual(['failed', code, id]);
      }
      const { id } = await act.createPolicy('policy-tests-failed', sample);
      const wrong = {
        name: 'wrong',
        stage: 'request',
        messages: [{ role: 'user', content: 'hello' }],
        expect: 'Reject',
      };
      await platform.client.patch(kinds.guardrailPolicy, await policyNameOf(platform.client, id), [
        { op: 'add', path: '/spec/tests', value: [wrong] },
      ]);
      expect((await act.readPolicy(id)).policy.revision).toBe(2);
      const tested = await api.ended(await act.apply(modelId, id, 2));
      expect(tested).toMatchObject({ state: 'failed', error: { code: 'policy_tests_failed' } });
      expect((await say('readiness', `about ${deniedTerm}`)).status).toBe(200);
      // Tests belong to their revision: the earlier revision has no tests.
      expect((await act.applied(modelId, id, 1)).json.state).toBe('applied');
      expect((await say('readiness', `about ${deniedTerm}`)).status).toBe(403);
    },
  );

  verifies(
    ['management:definition-digest:not-bundle-digest', 'management:auth:retrieval-and-memory'],
    'a definitionDigest is not accepted as a bundleDigest, and texts are checked without a request to the management API',
    async () => {
      const { id, binding } = await guardedModel('digests');
      const { policy } = await act.readPolicy(id);
      expect(binding.bundleDigest).not.toBe(policy.definitionDigest);
      const checked = await checkDirectly('digests');
      expect([checked.status, checked.json['action']]).toEqual([
        200,
        expect.objectContaining({ reason: 'policy_denied' }),
      ]);
      const wrong = await checkDirectly('digests', { 'x-ap-gr-bundle-digest': policy.definitionDigest });
      expect([wrong.status, wrong.json['code']]).toEqual([503, 'policy_unavailable']);
      expect(currentProfile).toBe('gateway-1.5.0-chat-webhook-v2');
    },
  );

  verifies(
    ['management:text-check:no-management-call'],
    'texts are checked and models are guarded while the management API is stopped',
    async () => {
      await guardedModel('alone');
      for (const replica of api.replicas) await replica.end();
      await pause(200);
      expect((await checkDirectly('alone')).status).toBe(200);
      expect((await say('alone', `about ${deniedTerm}`)).status).toBe(403);
      expect((await say('alone', 'hello')).status).toBe(200);
      await api.startReplica(0);
    },
  );
});
