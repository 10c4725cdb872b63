import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contextHeaders } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { verifies } from '../../e2e/support/verifies.ts';
import { type CheckClient, createCheckClient } from './client.ts';
import { checkTargetOf, said, testToken } from './testing/check-fixture.ts';
import {
  answerWith,
  denyResult,
  passResult,
  type RuntimeBehaviour,
  rawAnswer,
  requestMask,
  type ScriptedRuntime,
  scriptedError,
  startScriptedRuntime,
} from './testing/scripted-runtime.ts';

let client: CheckClient;
let runtime: ScriptedRuntime;
let second: ScriptedRuntime;

beforeEach(async () => {
  client = createCheckClient({ tokenFile: testToken, slackMs: 100 });
  runtime = await startScriptedRuntime(answerWith(200, passResult));
  second = await startScriptedRuntime(answerWith(200, passResult));
});
afterEach(async () => {
  await runtime[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await client[Symbol.asyncDispose]();
});

const hello = [said('hello')];
const check = (messages = hello) => client.check(checkTargetOf([runtime.origin]), 'request', messages);
const reset: RuntimeBehaviour = (socket) => socket.resetAndDestroy();

describe('the explanation of a failed check', () => {
  const named = (headers: Readonly<Record<string, string>>) =>
    runtime.behave(answerWith(503, scriptedError('provider_unavailable'), headers));

  test('a failed check names rule, provider and cause of the runtime', async () => {
    named({ 'x-portcullis-rule': 'r', 'x-portcullis-provider': 'spam', 'x-portcullis-cause': 'refused' });
    expect(await check()).toMatchObject({ rule: 'r', provider: { name: 'spam', cause: 'refused' } });
  });

  test.each([
    ['an unknown cause', { 'x-portcullis-provider': 'spam', 'x-portcullis-cause': 'my text' }],
    ['a provider that is no name', { 'x-portcullis-provider': 'my text', 'x-portcullis-cause': 'refused' }],
    ['no provider', { 'x-portcullis-cause': 'refused' }],
  ])('%s in the answer of a runtime is ignored', async (_name, headers) => {
    named({ 'x-portcullis-rule': 'r', ...headers });
    const outcome = await check();
    expect(outcome).toMatchObject({ kind: 'failed', rule: 'r' });
    expect(outcome).not.toHaveProperty('provider');
    expect(JSON.stringify(outcome)).not.toContain('my text');
  });
});

describe('requests of a check', () => {
  verifies(
    ['client:prepare:policy-fixed', 'guardrail:headers:context-from-trusted-configuration'],
    'context headers of a check come only from the target, and are the same for both attempts',
    async () => {
      runtime.behave(answerWith(503, scriptedError('overloaded')));
      second.behave(answerWith(503, scriptedError('overloaded')));
      const target = { ...checkTargetOf([runtime.origin, second.origin]) };
      const messages = [{ ...said('hello'), name: 'x', [contextHeaders.policyId]: 'weaker' }];
      const outcome = client.check(target, 'request', messages);
      Object.assign(target, { policyId: 'weaker', digest: 'cd'.repeat(32) });
      await outcome;
      const calls = [...runtime.received, ...second.received];
      expect(calls).toHaveLength(2);
      for (const call of calls) {
        expect(call.path).toBe('/request');
        expect(call.headers).toMatchObject({
          authorization: 'Bearer service-token',
          'content-type': 'application/json',
          [contextHeaders.policyId]: 'p-1',
          [contextHeaders.policyRevision]: '7',
          [contextHeaders.bundleDigest]: 'ab'.repeat(32),
          [contextHeaders.contentProfile]: 'gateway-1.5.0-chat-webhook-v2',
          [contextHeaders.responseMode]: 'buffered',
        });
        expect(call.body).toBe('{"body":{"messages":[{"role":"user","content":"hello"}]}}');
      }
    },
  );

  test('a check of the response stage sends choices and the given mode', async () => {
    await client.check(checkTargetOf([runtime.origin]), 'response', hello, { mode: 'sse-reject' });
    expect(runtime.received[0]).toMatchObject({ path: '/response' });
    expect(runtime.received[0]?.headers[contextHeaders.responseMode]).toBe('sse-reject');
    expect(runtime.received[0]?.body).toBe('{"body":{"choices":[{"message":{"role":"user","content":"hello"}}]}}');
  });

  verifies(
    ['client:prepare:size-check'],
    'the check client sends a body at the size limit, and refuses one byte more without a call',
    async () => {
      const content = 'ж'.repeat(100);
      const size = Buffer.byteLength(JSON.stringify({ body: { messages: [said(content)] } }));
      const send = (maxBodyBytes: number) =>
        client.check(checkTargetOf([runtime.origin], { maxBodyBytes }), 'request', [said(content)]);
      expect(await send(size)).toEqual({ kind: 'pass' });
      expect(runtime.received).toHaveLength(1);
      expect(await send(size - 1)).toMatchObject({ kind: 'failed', code: 'body_too_large' });
      expect(runtime.received).toHaveLength(1);
    },
  );

  verifies(
    ['client:prepare:count-check'],
    'the check client sends a set at the limit of messages, and refuses one message more without a call',
    async () => {
      const eight = Array.from({ length: 8 }, (_, at) => said(`text ${at}`));
      expect(await check(eight)).toEqual({ kind: 'pass' });
      expect(await check([...eight, said('one more')])).toMatchObject({ kind: 'failed', code: 'message_limit' });
      expect(await check([])).toMatchObject({ kind: 'failed', code: 'message_limit' });
      expect(runtime.received).toHaveLength(1);
    },
  );

  test('a check whose token cannot be read fails without a call', async () => {
    const tokenFile = {
      accepts: () => false,
      first: () => {
        throw new RangeError('gone');
      },
    };
    await using tokenless = createCheckClient({ tokenFile });
    expect(await tokenless.check(checkTargetOf([runtime.origin]), 'request', hello)).toMatchObject({
      code: 'no_token',
    });
    expect(runtime.received).toHaveLength(0);
  });
});

describe('a runtime that does not respond correctly', () => {
  verifies(
    ['client:call:bounded-wait', 'guardrail:errors:network-failure'],
    'a check of a suspended or slow runtime ends with a timeout',
    async () => {
      runtime.behave(() => undefined);
      const slow = checkTargetOf([runtime.origin], { deadlineMs: 1_000 });
      expect(await client.check(slow, 'request', hello)).toMatchObject({ kind: 'failed', code: 'timeout' });
      runtime.behave((socket) => setTimeout(() => socket.write(rawAnswer(200, JSON.stringify(passResult))), 5_000));
      expect(await client.check(slow, 'request', hello)).toMatchObject({ kind: 'failed', code: 'timeout' });
      const dripping = rawAnswer(200, JSON.stringify(passResult));
      runtime.behave((socket) => socket.write(dripping.slice(0, -1)));
      expect(await client.check(slow, 'request', hello)).toMatchObject({ kind: 'failed', code: 'timeout' });
      expect(runtime.received).toHaveLength(3);
    },
  );

  verifies(
    ['client:call:no-redirects'],
    'a check that is answered with a redirect fails, and the target of the redirect gets no call',
    async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        runtime.behave(answerWith(status, passResult, { location: `${second.origin}/request` }));
        expect(await check()).toMatchObject({ kind: 'failed', code: 'redirected' });
      }
      expect(second.received).toHaveLength(0);
    },
  );

  verifies(
    ['client:failure:non-200-forbids', 'guardrail:errors:503-not-always-temporary'],
    'every status other than 200 fails a check, with the code of a valid error body',
    async () => {
      const cases: readonly (readonly [number, unknown, string])[] = [
        [500, passResult, 'unexpected_status'],
        [201, passResult, 'unexpected_status'],
        [204, '', 'unexpected_status'],
        [403, denyResult, 'unexpected_status'],
        [400, scriptedError('invalid_json'), 'invalid_json'],
        [401, scriptedError('unauthenticated'), 'unauthenticated'],
        [403, scriptedError('untrusted_context'), 'untrusted_context'],
        [422, scriptedError('message_limit'), 'message_limit'],
        [503, scriptedError('policy_unavailable'), 'policy_unavailable'],
        [503, scriptedError('stage_timeout'), 'stage_timeout'],
        [503, scriptedError('invalid_replacement'), 'invalid_replacement'],
        [503, scriptedError('output_too_large'), 'output_too_large'],
        [400, scriptedError('policy_unavailable'), 'unexpected_status'],
        [503, scriptedError('toString'), 'unexpected_status'],
        [503, { ...scriptedError('internal'), extra: 1 }, 'unexpected_status'],
        [503, '<html>', 'unexpected_status'],
      ];
      for (const [at, [status, body, code]] of cases.entries()) {
        runtime.behave(answerWith(status, body));
        const outcome = await check();
        expect(outcome, String(at)).toMatchObject({ kind: 'failed', code });
        expect(JSON.stringify(outcome)).not.toContain('what the runtime says');
        expect(runtime.received, 'the call is not retried').toHaveLength(at + 1);
      }
      runtime.behave(answerWith(200, passResult));
      expect(await check(), 'the action is allowed once a check succeeds').toEqual({ kind: 'pass' });
    },
  );

  verifies(
    ['client:failure:network-forbids', 'guardrail:errors:network-failure'],
    'a check fails on a failed name lookup, connection or TLS handshake, a reset and a truncated answer',
    async () => {
      const closed = createServer().listen(0, '127.0.0.1');
      await once(closed, 'listening');
      const address = closed.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      closed.close();
      await once(closed, 'close');
      const whole = rawAnswer(200, JSON.stringify(passResult));
      const nowhere = [
        `http://127.0.0.1:${port}`,
        'http://no-such-name.invalid:1',
        runtime.origin.replace('http:', 'https:'),
      ];
      for (const origin of nowhere) {
        const outcome = await client.check(checkTargetOf([origin], { deadlineMs: 2_000 }), 'request', hello);
        expect(outcome, origin).toMatchObject({ kind: 'failed' });
        expect(outcome).not.toMatchObject({ code: 'aborted' });
      }
      const breaks: readonly RuntimeBehaviour[] = [
        reset,
        (socket) => socket.end(),
        (socket) => socket.write(whole.slice(0, 40), () => socket.resetAndDestroy()),
        (socket) => socket.end(whole.slice(0, -2)),
        (socket) => socket.write(whole.slice(0, -2), () => socket.resetAndDestroy()),
      ];
      for (const [at, broken] of breaks.entries()) {
        runtime.behave(broken);
        expect(await check(), `break ${at}`).toMatchObject({ kind: 'failed', code: 'network' });
      }
      expect(await client.check(checkTargetOf([]), 'request', hello)).toMatchObject({
        kind: 'failed',
        code: 'no_address',
      });
    },
  );

  test('the answer to a check is read over a half-closed connection', async () => {
    runtime.behave((socket) => socket.end(rawAnswer(200, JSON.stringify(passResult), { connection: 'close' })));
    expect(await check()).toEqual({ kind: 'pass' });
  });

  verifies(
    ['client:result:truncated-action'],
    'an answer to a check that is truncated at any byte is a failure, with and without Content-Length',
    async () => {
      const body = JSON.stringify(requestMask(said('[email]')));
      for (let length = 0; length < body.length; length += 1) {
        const cut = body.slice(0, length);
        runtime.behave(answerWith(200, cut));
        expect(await check(), `declared ${length}`).toMatchObject({ kind: 'failed', code: 'invalid_answer' });
      }
      runtime.behave((socket) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body.slice(0, -1)}`));
      expect(await check()).toMatchObject({ kind: 'failed', code: 'invalid_answer' });
      runtime.behave(
        answerWith(200, body, { 'content-length': String(Buffer.byteLength(body) + 1), connection: 'close' }),
      );
      expect(
        await client.check(checkTargetOf([runtime.origin], { deadlineMs: 1_000 }), 'request', hello),
      ).toMatchObject({
        kind: 'failed',
      });
    },
  );

  test('an answer to a check that is not HTTP or exceeds the limit is a failure', async () => {
    runtime.behave((socket) => socket.write('SSH-2.0-OpenSSH_9.2p1\r\n'));
    expect(await check()).toMatchObject({ kind: 'failed', code: 'network' });
    runtime.behave((socket) => socket.write(Buffer.from([0, 255, 1, 254, 13, 10, 13, 10])));
    expect(await check()).toMatchObject({ kind: 'failed', code: 'network' });
    runtime.behave(answerWith(200, `${JSON.stringify(passResult)}${' '.repeat(100_000)}`));
    expect(await check()).toMatchObject({ kind: 'failed', code: 'invalid_answer' });
    const endless: RuntimeBehaviour = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const more = () => {
        while (socket.writable && socket.write(`1000\r\n${' '.repeat(4_096)}\r\n`));
      };
      socket.on('drain', more);
      more();
    };
    runtime.behave(endless);
    expect(await check()).toMatchObject({ kind: 'failed', code: 'invalid_answer' });
    expect(await check(), 'the next call succeeds').toMatchObject({ kind: 'failed', code: 'invalid_answer' });
    runtime.behave(answerWith(200, passResult));
    expect(await check()).toEqual({ kind: 'pass' });
  });
});

describe('the second attempt of a check', () => {
  const both = () => checkTargetOf([runtime.origin, second.origin]);

  test('a check that an overloaded process refused is retried once on the other process', async () => {
    const overloaded = answerWith(503, scriptedError('overloaded'));
    for (const [busy, free] of [
      [runtime, second],
      [second, runtime],
    ] as const) {
      busy.behave(overloaded);
      free.behave(answerWith(200, passResult));
      for (let turn = 0; turn < 4; turn += 1) {
        expect(await client.check(both(), 'request', hello)).toEqual({ kind: 'pass' });
      }
    }
    expect(runtime.received.length + second.received.length).toBeGreaterThan(8);
  });

  test('a check ends with overloaded after two calls when two processes are overloaded, and after one call when there is only one process', async () => {
    runtime.behave(answerWith(503, scriptedError('overloaded')));
    second.behave(answerWith(503, scriptedError('overloaded')));
    expect(await client.check(both(), 'request', hello)).toMatchObject({ kind: 'failed', code: 'overloaded' });
    expect([runtime.received.length, second.received.length]).toEqual([1, 1]);
    expect(await check()).toMatchObject({ kind: 'failed', code: 'overloaded' });
    expect(runtime.received).toHaveLength(2);
  });

  test('a check whose connection is lost before the answer is retried once; one whose connection is lost during the answer is not', async () => {
    runtime.behave(reset);
    second.behave(reset);
    expect(await client.check(both(), 'request', hello)).toMatchObject({ kind: 'failed', code: 'network' });
    expect([runtime.received.length, second.received.length]).toEqual([1, 1]);
    second.behave(answerWith(200, passResult));
    expect(await client.check(both(), 'request', hello)).toEqual({ kind: 'pass' });
    expect(await client.check(both(), 'request', hello)).toEqual({ kind: 'pass' });

    const before = runtime.received.length + second.received.length;
    const middle: RuntimeBehaviour = (socket) =>
      socket.write(rawAnswer(200, JSON.stringify(passResult)).slice(0, -1), () => socket.resetAndDestroy());
    runtime.behave(middle);
    second.behave(middle);
    expect(await client.check(both(), 'request', hello)).toMatchObject({ kind: 'failed', code: 'network' });
    expect(runtime.received.length + second.received.length).toBe(before + 1);
  });

  test('a check succeeds after the only process closed the idle connection', async () => {
    for (let turn = 0; turn < 4; turn += 1) expect(await check()).toEqual({ kind: 'pass' });
    const idle: number[] = [];
    runtime.behave((socket, { place }) => {
      if (idle.push(place) === 1) socket.resetAndDestroy();
      else socket.write(rawAnswer(200, JSON.stringify(passResult)));
    });
    expect(await check()).toEqual({ kind: 'pass' });
    expect(idle).toHaveLength(2);
    expect(idle[0], 'the lost connection was used for an earlier call').toBeGreaterThan(0);
  });

  verifies(
    ['client:deny:no-retry'],
    'a deny is final: the check client makes one call and tries no other process',
    async () => {
      runtime.behave(answerWith(200, denyResult));
      second.behave(answerWith(200, denyResult));
      expect(await client.check(both(), 'request', hello)).toEqual({ kind: 'deny' });
      expect(runtime.received.length + second.received.length).toBe(1);
    },
  );

  test('both attempts of a check share one deadline', async () => {
    runtime.behave(() => undefined);
    second.behave(() => undefined);
    const late = checkTargetOf([runtime.origin, second.origin], { deadlineMs: 1 });
    expect(await client.check(late, 'request', hello)).toMatchObject({ code: 'timeout' });
    expect(runtime.received.length + second.received.length).toBe(1);
  });
});

describe('limits of the check client', () => {
  test('a process gets at most the allowed number of concurrent checks, and further checks wait until their deadline', async () => {
    await using narrow = createCheckClient({ tokenFile: testToken, slackMs: 2_000, maxInFlight: 3 });
    let open = 0;
    let most = 0;
    const answers: (() => void)[] = [];
    runtime.behave((socket) => {
      open += 1;
      most = Math.max(most, open);
      answers.push(() => {
        open -= 1;
        socket.write(rawAnswer(200, JSON.stringify(passResult)));
      });
      if (answers.length === 3) for (const answer of answers.splice(0)) answer();
    });
    const target = checkTargetOf([runtime.origin]);
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => narrow.check(target, 'request', hello)));
    expect(outcomes).toEqual(Array.from({ length: 12 }, () => ({ kind: 'pass' })));
    expect(most).toBe(3);
    runtime.behave(() => undefined);
    const frozen = await Promise.all(
      Array.from({ length: 5 }, () =>
        narrow.check(checkTargetOf([runtime.origin], { deadlineMs: 1 }), 'request', hello),
      ),
    );
    expect(frozen.map((outcome) => outcome.kind === 'failed' && outcome.code)).toEqual(Array(5).fill('timeout'));
  });

  test('an aborted check closes its call', async () => {
    const given = new AbortController();
    runtime.behave((socket) => {
      socket.on('close', () => runtime.received.push({ path: 'closed', headers: {}, body: '', place: 0 }));
      given.abort();
    });
    const outcome = await client.check(checkTargetOf([runtime.origin]), 'request', hello, { signal: given.signal });
    expect(outcome).toMatchObject({ kind: 'failed', code: 'aborted' });
    await until('the call is closed', () => runtime.received.some(({ path }) => path === 'closed'));
    const dead = await client.check(checkTargetOf([runtime.origin]), 'request', hello, { signal: given.signal });
    expect(dead).toMatchObject({ kind: 'failed', code: 'aborted' });
  });
});

describe('a probe of a runtime', () => {
  test('a probe of a runtime sends no message and succeeds only with message_limit', async () => {
    const target = checkTargetOf([runtime.origin]);
    runtime.behave(answerWith(422, scriptedError('message_limit')));
    expect(await client.probe(target)).toEqual({ ok: true });
    expect(runtime.received[0]?.body).toBe('{"body":{"messages":[]}}');
    for (const [behaviour, code] of [
      [answerWith(200, passResult), 'invalid_answer'],
      [answerWith(422, scriptedError('invalid_payload')), 'invalid_payload'],
      [answerWith(401, scriptedError('unauthenticated')), 'unauthenticated'],
      [answerWith(503, scriptedError('policy_unavailable')), 'policy_unavailable'],
      [answerWith(422, 'message_limit'), 'unexpected_status'],
      [reset, 'network'],
      [() => undefined, 'timeout'],
    ] as const) {
      runtime.behave(behaviour);
      expect(await client.probe(target)).toMatchObject({ ok: false, code });
    }
    expect(await client.probe(checkTargetOf([]))).toMatchObject({ ok: false, code: 'no_address' });
  });
});
