import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { contentProfiles } from '#contracts/profiles';
import { verifies } from '../../e2e/support/verifies.ts';
import { bundle, bundleOf, masking, policy, section, stopList } from '../testing/build-bundle.ts';
import {
  type HeaderChanges,
  providerKey,
  type RuntimeResponse,
  startRuntime,
  type TestRuntime,
  testServiceToken,
} from '../testing/start-runtime.ts';

const stages = ['request', 'response'] as const;
const rules = [stopList('words', ['forbidden']), masking(stopList('names', ['alice']), '[name]')];
const a = policy(section([stopList('only-a', ['apple'])]), undefined, 'policy-a', '1');
const b = policy(section([stopList('only-b', ['banana'])]), undefined, 'policy-b', '7');

let runtime: TestRuntime;
let several: TestRuntime;
beforeAll(async () => {
  runtime = await startRuntime(bundleOf(rules));
  several = await startRuntime(bundle([a, b]));
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await several[Symbol.asyncDispose]();
});

const check = (
  changes: HeaderChanges,
  stage: (typeof stages)[number] = 'request',
  on = runtime,
): Promise<RuntimeResponse> => on.check(stage, ['hello'], changes);
const outcome = ({ status, json }: RuntimeResponse): object => ({ status, code: json.code, action: json.action });
const refused = (status: number, code: string): object => ({ status, code, action: undefined });
const pass = { status: 200, code: undefined, action: { reason: 'policy_pass' } };

/** A JSON web token with a real signature (RFC 7515). */
function signedToken(claims: object): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'EdDSA', typ: 'JWT' })}.${part(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

describe('the service token', () => {
  verifies(
    ['guardrail:auth:missing-token-401', 'guardrail:errors:unauthenticated', 'guardrail:metrics:token-missing-401'],
    'the service token is needed on both checks and on /metrics',
    async () => {
      for (const stage of stages)
        expect(outcome(await check({ authorization: undefined }, stage))).toEqual(refused(401, 'unauthenticated'));
      const metrics = await runtime.get('/metrics');
      expect(outcome(metrics)).toEqual(refused(401, 'unauthenticated'));
      expect(Object.keys(metrics.json).sort()).toEqual(['code', 'message', 'traceId']);
    },
  );

  verifies(
    ['guardrail:auth:incorrect-token-401', 'guardrail:auth:other-credentials-refused'],
    'a signed user token, the key of a model provider and a token of the management API are refused with 401',
    async () => {
      const times = { iat: 1_700_000_000, exp: 4_000_000_000 };
      const user = signedToken({ iss: 'https://issuer.example', sub: 'user-1', aud: 'portcullis', ...times });
      const management = signedToken({
        iss: 'https://issuer.example',
        sub: 'admin-1',
        aud: 'portcullis-management',
        scope: 'guardrail:admin',
        ...times,
      });
      for (const other of [
        user,
        management,
        providerKey,
        'wrong',
        `${testServiceToken}x`,
        testServiceToken.slice(0, -1),
      ]) {
        for (const stage of stages) {
          expect(outcome(await check({ authorization: `Bearer ${other}` }, stage))).toEqual(
            refused(401, 'unauthenticated'),
          );
        }
        expect((await runtime.get('/metrics', { authorization: `Bearer ${other}` })).status).toBe(401);
      }
    },
  );

  verifies(
    ['guardrail:auth:one-token-all-policies'],
    'the service token serves all policies of the bundle',
    async () => {
      expect(outcome(await check({}, 'request', several))).toEqual(pass);
      const other = { 'x-ap-gr-policy-id': 'policy-b', 'x-ap-gr-policy-revision': '7' };
      expect(outcome(await check(other, 'request', several))).toEqual(pass);
    },
  );
});

describe('context headers', () => {
  const names = [
    'x-ap-gr-policy-id',
    'x-ap-gr-policy-revision',
    'x-ap-gr-bundle-digest',
    'x-ap-gr-content-profile',
    'x-ap-gr-response-mode',
  ];

  verifies(
    [
      'guardrail:headers:policy-id-missing',
      'guardrail:headers:policy-id-empty',
      'guardrail:headers:policy-id-duplicate',
      'guardrail:headers:policy-revision-missing',
      'guardrail:headers:policy-revision-empty',
      'guardrail:headers:policy-revision-duplicate',
      'guardrail:headers:bundle-digest-missing',
      'guardrail:headers:bundle-digest-empty',
      'guardrail:headers:bundle-digest-duplicate',
      'guardrail:headers:content-profile-missing',
      'guardrail:headers:content-profile-empty',
      'guardrail:headers:content-profile-duplicate',
      'guardrail:headers:response-mode-required-current-profile',
      'guardrail:headers:response-mode-empty',
      'guardrail:headers:response-mode-duplicate',
      'guardrail:errors:untrusted-context',
      'guardrail:auth:context-fault-not-denial',
    ],
    'context headers are required exactly once and not empty, on both stages',
    async () => {
      const list = runtime.headers();
      for (const name of names) {
        const value = list[list.indexOf(name) + 1] ?? '';
        for (const wrong of [undefined, '', '  ', [value, value], [value, 'other'], ['', value]]) {
          for (const stage of stages) {
            const answer = await check({ [name]: wrong }, stage);
            expect(outcome(answer)).toEqual(refused(403, 'untrusted_context'));
            expect(Object.keys(answer.json).sort()).toEqual(['code', 'message', 'traceId']);
          }
        }
      }
    },
  );

  verifies(
    [
      'guardrail:headers:response-mode-older-profiles',
      'guardrail:versioning:older-profile-1-4-1',
      'guardrail:versioning:older-profile-1-5-0',
    ],
    'the response mode header is optional for the older profiles, and has its effect if it is sent',
    async () => {
      for (const contentProfile of ['gateway-1.4.1-text-webhook-v1', 'gateway-1.5.0-text-webhook-v1'] as const) {
        await using older = await startRuntime(bundleOf(rules, [], { contentProfile }));
        for (const stage of stages) {
          expect(outcome(await check({ 'x-ap-gr-response-mode': undefined }, stage, older))).toEqual(pass);
          for (const mode of ['', 'other', ['buffered', 'buffered']]) {
            expect(outcome(await check({ 'x-ap-gr-response-mode': mode }, stage, older))).toEqual(
              refused(403, 'untrusted_context'),
            );
          }
        }
        const masked = await older.check('response', ['alice'], { 'x-ap-gr-response-mode': undefined });
        expect(masked.json.action).toMatchObject({ reason: 'content_redacted' });
        const rejected = await older.check('response', ['alice'], { 'x-ap-gr-response-mode': 'sse-reject' });
        expect(rejected.json.action).toMatchObject({ reason: 'policy_denied' });
      }
    },
  );

  verifies(
    [
      'guardrail:headers:policy-id-exact',
      'guardrail:headers:policy-revision-exact',
      'guardrail:headers:bundle-digest-exact',
      'guardrail:headers:bundle-digest-no-prefix',
      'guardrail:headers:content-profile-exact',
      'guardrail:headers:unknown-revision-no-switch',
      'guardrail:headers:wrong-digest-no-switch',
      'guardrail:errors:policy-unavailable-mismatch',
      'guardrail:versioning:profile-check',
    ],
    'context headers must name the loaded policy, revision, digest and profile exactly',
    async () => {
      const { digest } = several;
      const wrong: HeaderChanges[] = [
        ...['policy-c', 'Policy-A', 'policy-a ', 'policy', 'toString', '__proto__']
          .map((id) => ({ 'x-ap-gr-policy-id': id }))
          .filter(({ 'x-ap-gr-policy-id': id }) => id.trim() !== 'policy-a'),
        ...['2', '01', '1.0', '7', 'latest'].map((revision) => ({ 'x-ap-gr-policy-revision': revision })),
        ...[`sha256:${digest}`, digest.toUpperCase(), digest.slice(1), `${digest}0`, 'f'.repeat(64), 'x'].map(
          (value) => ({ 'x-ap-gr-bundle-digest': value }),
        ),
        ...[
          'gateway-1.5.0-text-webhook-v1',
          'gateway-1.4.1-text-webhook-v1',
          'GATEWAY-1.5.0-chat-webhook-v2',
          'none',
        ].map((profile) => ({ 'x-ap-gr-content-profile': profile })),
        { 'x-ap-gr-policy-id': 'policy-b' },
        { 'x-ap-gr-policy-id': 'policy-b', 'x-ap-gr-policy-revision': '1' },
      ];
      for (const changes of wrong) {
        for (const stage of stages)
          expect(outcome(await check(changes, stage, several))).toEqual(refused(503, 'policy_unavailable'));
      }
    },
  );

  verifies(
    ['guardrail:process:one-policy-by-headers', 'bundle:policy:several'],
    'context headers select one policy, and only its rules are evaluated',
    async () => {
      const other = { 'x-ap-gr-policy-id': 'policy-b', 'x-ap-gr-policy-revision': '7' };
      for (const [text, changes, reason] of [
        ['apple', {}, 'policy_denied'],
        ['banana', {}, 'policy_pass'],
        ['apple', other, 'policy_pass'],
        ['banana', other, 'policy_denied'],
      ] as const) {
        for (const stage of stages) {
          expect((await several.check(stage, [text], changes)).json.action).toMatchObject({ reason });
        }
      }
    },
  );

  verifies(['guardrail:versioning:current-profile'], 'every known profile loads and is served', async () => {
    for (const contentProfile of contentProfiles) {
      await using served = await startRuntime(bundleOf(rules, [], { contentProfile }));
      expect(outcome(await check({}, 'request', served))).toEqual(pass);
    }
  });
});

describe('the response mode', () => {
  verifies(['guardrail:headers:response-mode-buffered'], 'in response mode buffered a response is masked', async () => {
    const answer = await runtime.check('response', ['alice'], { 'x-ap-gr-response-mode': 'buffered' });
    expect(answer.json).toEqual({
      action: {
        body: { choices: [{ message: { role: 'assistant', content: '[name]' } }] },
        reason: 'content_redacted',
      },
    });
  });

  verifies(
    ['guardrail:headers:sse-reject-instead-of-mask', 'guardrail:headers:sse-reject-request-still-masks'],
    'in response mode sse-reject a mask of a response becomes a Reject; requests are masked',
    async () => {
      const mode = { 'x-ap-gr-response-mode': 'sse-reject' };
      expect((await runtime.check('response', ['alice'], mode)).json.action).toEqual({
        body: 'Запрос отклонён политикой',
        status_code: 403,
        reason: 'policy_denied',
      });
      expect((await runtime.check('response', ['hello'], mode)).json.action).toEqual({ reason: 'policy_pass' });
      expect((await runtime.check('request', ['alice'], mode)).json.action).toEqual({
        body: { messages: [{ role: 'user', content: '[name]' }] },
        reason: 'content_redacted',
      });
    },
  );
});
