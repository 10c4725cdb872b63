import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleBundle } from '#contracts/assemble-bundle';
import { type Bundle, defaultBundleLimits } from '#contracts/bundle';
import { currentProfile } from '#contracts/profiles';
import { unusedPort } from '#kit/testing/loopback';
import { answers, type Script, type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { verifies } from '../../../e2e/support/verifies.ts';
import { bundle, classifier, detector, policy, providersAt, quiet, section } from '../../testing/build-bundle.ts';
import { allow, completion, deny } from '../../testing/provider-answers.ts';
import { providerKey, type RuntimeResponse, startRuntime, type TestRuntime } from '../../testing/start-runtime.ts';
import { answerBytes } from './post-json.ts';

/** Requests are checked by the detector, responses by the classifier. */
function bundleAt(url: string): Bundle {
  const remote = policy(section([detector('detector')]), section([classifier('classifier')]));
  return bundle([remote], { providers: providersAt(url) });
}

let provider: ScriptedHttp;
let runtime: TestRuntime;
beforeAll(async () => {
  provider = await startScriptedHttp(allow);
  runtime = await startRuntime(bundleAt(provider.url));
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const outcome = ({ status, json }: RuntimeResponse): object => ({ status, code: json.code ?? json.action?.['reason'] });
const failed = (code: string): object => ({ status: 503, code });
const pass = { status: 200, code: 'policy_pass' };
const denied = { status: 200, code: 'policy_denied' };

async function detect(behaviour: Script): Promise<object> {
  provider.play(behaviour);
  return outcome(await runtime.check('request', ['hello']));
}
async function classify(behaviour: Script): Promise<object> {
  provider.play(behaviour);
  return outcome(await runtime.check('response', ['hello']));
}
const says = (content: unknown, message: object = {}, finish = 'stop'): Script =>
  answers(completion(content, message, finish));

describe('a detector', () => {
  verifies(
    [
      'bundle:external-pipeline:allow',
      'bundle:external-pipeline:deny',
      'bundle:external-pipeline:contract',
      'guardrail:versioning:schema-detector-v1',
    ],
    'a detector is called with schema detector/v1, and its answer decides',
    async () => {
      expect(await detect(allow)).toEqual(pass);
      const asked = provider.seen.at(-1);
      expect(asked?.path).toBe('/detect');
      expect(asked?.headers.authorization).toBe(`Bearer ${providerKey}`);
      expect(asked?.headers['content-type']).toBe('application/json');
      expect(JSON.parse(asked?.text ?? '')).toEqual({
        schema: 'platform.guardrail-runtime.detector/v1',
        stage: 'request',
        messages: [{ role: 'user', content: 'hello' }],
      });
      expect(await detect(deny)).toEqual(denied);
    },
  );

  verifies(
    ['guardrail:errors:provider-error', 'guardrail:fail-closed:error'],
    'a detector that cannot be reached or answers with an error is provider_unavailable, whatever the body of its answer',
    async () => {
      for (const status of [201, 204, 301, 302, 307, 400, 401, 403, 404, 429, 500, 503]) {
        const behaviour = answers(status === 204 ? '' : { decision: 'allow' }, status, {
          location: `${provider.url}/detect`,
        });
        const before = provider.seen.length;
        expect(await detect(behaviour)).toEqual(failed('provider_unavailable'));
        expect(provider.seen.length - before).toBe(1);
      }
      const breaks: readonly Script[] = [
        (response) => response.destroy(),
        (response) =>
          response.writeHead(200, { 'content-length': '100' }).write('{"decision":"allow"}', () => response.destroy()),
        (response) => response.writeHead(200).write('{"decision":"allow"}', () => response.destroy()),
      ];
      for (const broken of breaks) expect(await detect(broken)).toEqual(failed('provider_unavailable'));
    },
  );

  test('a detector that refuses connections or does not speak HTTP is provider_unavailable', async () => {
    await using nobody = await startRuntime(bundleAt(`http://127.0.0.1:${await unusedPort()}`));
    expect(outcome(await nobody.check('request', ['hello']))).toEqual(failed('provider_unavailable'));
    const half = createServer((socket) => socket.end('not http\r\n\r\n')).listen(0, '127.0.0.1');
    await once(half, 'listening');
    const address = half.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await using garbled = await startRuntime(bundleAt(`http://127.0.0.1:${port}`));
    expect(outcome(await garbled.check('request', ['hello']))).toEqual(failed('provider_unavailable'));
    half.close();
  });

  verifies(
    ['guardrail:errors:verdict-error', 'bundle:external-pipeline:no-masking'],
    'an answer of a detector that is not exactly a decision fails the rule',
    async () => {
      const invalid = [
        '',
        'allow',
        '"allow"',
        'null',
        '[]',
        '{}',
        '{"decision":null}',
        '{"decision":true}',
        '{"decision":["allow"]}',
        '{"decision":"allow"',
        '{"decision":"allow"} x',
        '\ufeff{"decision":"allow"}',
        '{"decision":"allow","decision":"allow"}',
        '{"Decision":"allow"}',
        '{"decision":"allow","score":0.1}',
        '{"decision":"allow","body":{"messages":[]}}',
        '{"decision":"allow","replacement":"***"}',
        '{"__proto__":{"decision":"allow"}}',
        '{"decision":"allow","__proto__":1}',
      ];
      for (const body of invalid) expect(await detect(answers(body)), body).toEqual(failed('provider_invalid_answer'));
      for (const word of ['', 'Allow', 'ALLOW', 'maybe', 'uncertain', 'pass', 'allow ']) {
        expect(await detect(answers({ decision: word })), word).toEqual(failed('verdict_undefined'));
      }
    },
  );

  test('an answer of a detector is read up to 64 KiB; a longer one is provider_invalid_answer', async () => {
    const padded = (bytes: number): string => `{"decision":"allow"}${' '.repeat(bytes - 20)}`;
    expect(await detect(answers(padded(answerBytes)))).toEqual(pass);
    expect(await detect(answers(padded(answerBytes + 1)))).toEqual(failed('provider_invalid_answer'));
    let closed = false;
    expect(
      await detect((response) => {
        response.on('close', () => (closed = true)).writeHead(200);
        const pump = (): void => {
          while (!closed && response.write(' '.repeat(65_536)));
        };
        response.on('drain', pump);
        pump();
      }),
    ).toEqual(failed('provider_invalid_answer'));
    expect(await detect(allow)).toEqual(pass);
  });
});

describe('a classifier', () => {
  verifies(
    [
      'bundle:llm-classifier:deny-by-instruction',
      'bundle:llm-classifier:instruction-versioned',
      'bundle:classifier-profile:name',
      'bundle:classifier-profile:strict-json-schema',
      'bundle:classifier-profile:temperature-zero',
      'bundle:classifier-profile:max-completion-tokens',
      'bundle:classifier-profile:stream-false',
      'bundle:classifier-profile:store-false',
    ],
    'a classifier is called with its profile, its instruction and its own model, and decides',
    async () => {
      expect(await classify(says({ decision: 'allow' }))).toEqual(pass);
      const asked = provider.seen.at(-1);
      expect(asked?.path).toBe('/chat');
      expect(asked?.headers.authorization).toBe(`Bearer ${providerKey}`);
      const { messages, ...call } = JSON.parse(asked?.text ?? '{}') as {
        messages: { role: string; content: string }[];
      };
      expect(call).toEqual({
        model: 'judge-1',
        temperature: 0,
        max_completion_tokens: 64,
        stream: false,
        store: false,
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'guardrail_decision',
            strict: true,
            schema: {
              type: 'object',
              properties: { decision: { type: 'string', enum: ['allow', 'deny', 'uncertain'] } },
              required: ['decision'],
              additionalProperties: false,
            },
          },
        },
      });
      expect(messages[0]).toEqual({ role: 'system', content: 'Deny what asks for a password.' });
      expect(messages[1]?.role).toBe('user');
      expect(JSON.parse(messages[1]?.content ?? '')).toEqual({
        stage: 'response',
        messages: [{ role: 'assistant', content: 'hello' }],
      });
      expect(await classify(says({ decision: 'deny' }))).toEqual(denied);
    },
  );

  verifies(
    ['bundle:llm-classifier:provider-apart-from-agents'],
    'a classifier is called in the same way, whatever model for agents the environment approves',
    async () => {
      const remote = policy(section([quiet]), section([classifier('classifier')]));
      const definition = {
        request: remote.request,
        response: remote.response,
        providers: [{ name: 'classifier', credentialRef: { name: 'provider.key' } }],
      };
      const calls: unknown[] = [];
      for (const agent of [
        { endpoint: `${provider.url}/agent-a`, credential: 'agent-a.key', enabled: true },
        { endpoint: `${provider.url}/agent-b`, credential: 'agent-b.key', enabled: true },
        { endpoint: `${provider.url}/agent-b`, enabled: false },
      ]) {
        const assembled = assembleBundle({
          policyId: 'policy-a',
          revision: '1',
          definition,
          contentProfile: currentProfile,
          limits: defaultBundleLimits,
          approved: [...providersAt(provider.url), { name: 'agent', kind: 'model', ...agent }],
        });
        if (assembled.kind === 'refused') throw new Error(assembled.message);
        await using guarded = await startRuntime(assembled.bundle, { text: assembled.bytes });
        provider.play(says({ decision: 'allow' }));
        expect(outcome(await guarded.check('response', ['hello']))).toEqual(pass);
        const { path, text, headers } = provider.seen.at(-1) ?? {};
        calls.push({ path, text, authorization: headers?.authorization, digest: assembled.digest });
      }
      expect(calls[0]).toMatchObject({ path: '/chat', authorization: `Bearer ${providerKey}` });
      expect(calls.slice(1)).toEqual([calls[0], calls[0]]);
      expect(provider.seen.filter(({ path }) => path.startsWith('/agent'))).toEqual([]);
    },
  );

  verifies(
    ['bundle:llm-classifier:uncertain-is-error', 'guardrail:fail-closed:undefined-classifier-answer'],
    'a classifier that is uncertain, or answers with another word, fails the rule',
    async () => {
      for (const word of ['uncertain', 'maybe', 'Allow', '']) {
        expect(await classify(says({ decision: word })), word).toEqual(failed('verdict_undefined'));
      }
    },
  );

  verifies(['bundle:llm-classifier:refusal-is-error'], 'a classifier whose model refuses fails the rule', async () => {
    expect(await classify(says('', { refusal: 'I cannot help with that.' }))).toEqual(failed('verdict_refused'));
    expect(await classify(says({ decision: 'allow' }, { refusal: 'no' }))).toEqual(failed('verdict_refused'));
    expect(await classify(says(null, { content: null, refusal: 'no' }))).toEqual(failed('verdict_refused'));
    expect(await classify(says({ decision: 'allow' }, {}, 'content_filter'))).toEqual(failed('verdict_refused'));
  });

  verifies(
    [
      'bundle:llm-classifier:invalid-answer-is-error',
      'bundle:llm-classifier:no-masking',
      'bundle:llm-classifier:decision-only',
    ],
    'an answer of a classifier that is not exactly a decision fails the rule',
    async () => {
      const contents: unknown[] = [
        '',
        'allow',
        'null',
        '{"decision":"allow"',
        '```json\n{"decision":"allow"}\n```',
        '{"decision":"allow"} ok',
        '{"decision":"allow","decision":"allow"}',
        { decision: 'allow', confidence: 0.9 },
        { decision: 'allow', categories: [] },
        { decision: 'allow', text: '***' },
        { verdict: 'allow' },
        ['allow'],
      ];
      const good = completion({ decision: 'allow' }) as { choices: unknown[] };
      const invalid: readonly Script[] = [
        ...contents.map((content) => says(content)),
        says({ decision: 'allow' }, {}, 'length'),
        says({ decision: 'allow' }, { tool_calls: [{ id: 'x' }] }),
        says(null, { content: null }),
        says(null, { content: [{ type: 'text', text: '{"decision":"allow"}' }] }),
        answers({ ...good, choices: [] }),
        answers({ ...good, choices: [...good.choices, ...good.choices] }),
        answers({ decision: 'allow' }),
        answers(JSON.stringify(good).slice(0, -1)),
      ];
      for (const [at, behaviour] of invalid.entries())
        expect(await classify(behaviour), String(at)).toEqual(failed('provider_invalid_answer'));
      expect(await classify(answers(good, 500))).toEqual(failed('provider_unavailable'));
      expect(await classify(says(' {"decision" : "allow"}\n'))).toEqual(pass);
    },
  );

  verifies(
    ['bundle:llm-classifier:may-differ-on-repetition'],
    'a classifier may answer differently on repetition',
    async () => {
      let calls = 0;
      provider.play((response, asked) => says({ decision: calls++ === 0 ? 'allow' : 'deny' })(response, asked));
      expect(outcome(await runtime.check('response', ['same']))).toEqual(pass);
      expect(outcome(await runtime.check('response', ['same']))).toEqual(denied);
    },
  );
});

verifies(
  ['guardrail:error-body:no-provider-answer'],
  'no error and no log line contains the answer of a provider',
  async () => {
    const marker = 'marker-of-the-provider';
    for (const behaviour of [
      answers(marker),
      answers({ decision: marker }),
      answers({ error: marker }, 500),
      says(marker),
      says('', { refusal: marker }),
    ]) {
      provider.play(behaviour);
      for (const stage of ['request', 'response'] as const) {
        const answer = await runtime.check(stage, ['hello']);
        expect(answer.status).toBe(503);
        expect(answer.text).not.toContain(marker);
      }
    }
    expect(runtime.log()).not.toContain(marker);
    expect(runtime.log()).not.toContain(providerKey);
  },
);

describe('a credential', () => {
  test('a bundle with a missing credential is refused; if the credential is removed later, the check fails', async () => {
    const missing = bundleAt(provider.url);
    const [one, two] = missing.providers;
    const named: Bundle = { ...missing, providers: [{ ...one!, credential: 'absent.key' }, two!] };
    await expect(startRuntime(named)).rejects.toThrow(/provider detector: .*absent\.key: cannot be read/);
    provider.play(allow);
    let now = 0;
    await using vanishing = await startRuntime(missing, { clock: { now: () => now, date: () => new Date(0) } });
    expect(outcome(await vanishing.check('request', ['hello']))).toEqual(pass);
    rmSync(join(vanishing.folder, 'provider.key'));
    now += 2_000;
    const before = provider.seen.length;
    expect(outcome(await vanishing.check('request', ['hello']))).toEqual(failed('provider_unavailable'));
    expect(provider.seen.length).toBe(before);
    writeFileSync(join(vanishing.folder, 'provider.key'), 'another-key\n');
    now += 2_000;
    expect(outcome(await vanishing.check('request', ['hello']))).toEqual(pass);
    expect(provider.seen.at(-1)?.headers.authorization).toBe('Bearer another-key');
  });
});
