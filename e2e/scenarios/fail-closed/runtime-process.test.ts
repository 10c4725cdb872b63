import { expect } from 'vitest';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';
import { verifies } from '../../support/verifies.ts';

const answer = 'leaked '.repeat(400);

function ask(platform: GuardedGateway, stream: boolean, content = 'Hello.'): Promise<ChatResult> {
  return chatCall({ url: platform.url, key: platform.key, model: alias, content, stream });
}

async function expectHealthy(platform: GuardedGateway): Promise<void> {
  for (const stream of [false, true]) {
    expect(await ask(platform, stream)).toMatchObject({ status: 200, complete: true, text: answer });
  }
}

async function expectClosed(platform: GuardedGateway, code: string): Promise<void> {
  platform.upstream.forget();
  for (const stream of [false, true]) {
    const result = await ask(platform, stream);
    expect(result).toMatchObject({ status: 503, complete: false, error: { type: 'guardrail_error', code } });
    expect(result.raw).not.toContain('leaked');
  }
  expect(platform.upstream.seen).toEqual([]);
}

verifies(
  ['guardrail:usage:gateway-webhook', 'guardrail:errors:network-failure', 'client:failure:network-forbids'],
  'requests are stopped before the model while the runtime is killed or suspended, and served when it runs again',
  async () => {
    await using platform = await startGuardedGateway();
    platform.upstream.play({ kind: 'answer', content: answer });
    await expectHealthy(platform);

    platform.runtime.signal('SIGSTOP');
    await expectClosed(platform, 'timeout');
    platform.runtime.signal('SIGCONT');
    await expectHealthy(platform);

    await platform.runtime.end('SIGKILL');
    await expectClosed(platform, 'network');
    await using again = await platform.startRuntime();
    platform.proxy.retarget(again.url);
    await expectHealthy(platform);
  },
);

verifies(
  ['guardrail:usage:gateway-webhook'],
  'a stream whose runtime is killed ends with an error after the text that had passed',
  async () => {
    await using platform = await startGuardedGateway();
    const words = Array.from({ length: 600 }, (_, index) => `word-${index}`).join(' ');
    platform.upstream.play({ kind: 'answer', content: words, frameLength: 64 });
    let windows = 0;
    platform.proxy.inject((check) => {
      windows += check.path === '/response' ? 1 : 0;
      if (windows === 3) platform.runtime.signal('SIGKILL');
      return { kind: 'pass' };
    });
    const result = await ask(platform, true);
    expect(result).toMatchObject({ status: 200, complete: false, error: { type: 'guardrail_error', code: 'network' } });
    expect(words.startsWith(result.text)).toBe(true);
    expect(result.text.length).toBeLessThanOrEqual(3 * 1_024 - 255);
  },
);
