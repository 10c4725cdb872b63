import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';
import { type CheckPlace, runtimeFaults } from './runtime-faults.ts';

/** An answer long enough for several windows; every part of it is different. */
const answer = Array.from({ length: 500 }, (_, index) => `leaked-${String(index).padStart(3, '0')}`).join(' ');

let platform: GuardedGateway;
beforeAll(async () => {
  platform = await startGuardedGateway();
});
afterAll(async () => platform[Symbol.asyncDispose]());

function ask(stream: boolean): Promise<ChatResult> {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello.' },
  ];
  return chatCall({ url: platform.url, key: platform.key, model: alias, content: '', stream, extra: { messages } });
}

async function expectHealthy(stream: boolean): Promise<void> {
  platform.proxy.inject({ kind: 'pass' });
  platform.upstream.play({ kind: 'answer', content: answer, frameLength: 64 });
  expect(await ask(stream)).toMatchObject({ status: 200, complete: true, text: answer });
}

function expectFailed(result: ChatResult, code: string): void {
  expect(result.error).toMatchObject({ type: 'guardrail_error', code });
  expect(result.complete).toBe(false);
  expect(result.raw).not.toContain('[DONE]');
}

/** Failures that may succeed on a retry: official clients retry them. */
const retriedCodes = ['policy_unavailable', 'overloaded', 'stage_timeout', 'network', 'timeout'];

const at = (place: CheckPlace) => runtimeFaults.filter(({ places }) => places === undefined || places.includes(place));

describe('the check of the input', () => {
  test.each(at('input'))(
    '$name in the check of the input: the provider receives no request',
    async ({ fault, code }) => {
      await expectHealthy(false);
      platform.upstream.forget();
      platform.proxy.inject(fault('input'));
      for (const stream of [false, true]) {
        const result = await ask(stream);
        expect(result.status).toBe(503);
        expect(result.headers?.get('x-should-retry')).toBe(retriedCodes.includes(code) ? null : 'false');
        expectFailed(result, code);
      }
      expect(platform.upstream.seen).toEqual([]);
      await expectHealthy(false);
    },
  );
});

describe('the check of a whole answer', () => {
  test.each(at('output'))(
    '$name in the check of a complete answer: the client receives no text',
    async ({ fault, code }) => {
      await expectHealthy(false);
      platform.proxy.inject((check) => (check.path === '/response' ? fault('output') : { kind: 'pass' }));
      const result = await ask(false);
      expect(result.status).toBe(503);
      expectFailed(result, code);
      expect(result.raw).not.toContain('leaked');
      await expectHealthy(false);
    },
  );
});

describe('the check of a stream', () => {
  test.each(at('stream'))(
    '$name at the first window of a stream: the client receives no text',
    async ({ fault, code }) => {
      await expectHealthy(true);
      platform.proxy.inject((check) => (check.path === '/response' ? fault('stream') : { kind: 'pass' }));
      const result = await ask(true);
      expectFailed(result, code);
      expect(result.raw).not.toContain('leaked');
      await expectHealthy(true);
    },
  );

  test.each(at('stream'))(
    '$name at the third window of a stream: the client receives only text that passed',
    async ({ fault, code }) => {
      await expectHealthy(true);
      let windows = 0;
      platform.proxy.inject((check) => {
        if (check.path !== '/response') return { kind: 'pass' };
        windows += 1;
        return windows < 3 ? { kind: 'pass' } : fault('stream');
      });
      const result = await ask(true);
      expectFailed(result, code);
      expect(result.status).toBe(200);
      expect(answer.startsWith(result.text)).toBe(true);
      expect(result.text.length).toBeGreaterThan(0);
      expect(result.text.length).toBeLessThanOrEqual(2 * 1_024 - 255);
      await expectHealthy(true);
    },
  );
});
