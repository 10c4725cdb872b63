import { expect } from 'vitest';
import { until } from '#kit/testing/until';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { type Platform, startPlatform } from '../../support/start-platform.ts';
import { verifies } from '../../support/verifies.ts';

function ask(platform: Platform, content: string, stream: boolean): Promise<ChatResult> {
  const url = platform.status().addresses.gateway;
  return chatCall({ url, key: platform.key, model: 'guarded-echo', content, stream });
}

async function expectGuarded(platform: Platform): Promise<void> {
  for (const stream of [false, true]) {
    const passed = await ask(platform, 'What is a portcullis?', stream);
    expect(passed).toMatchObject({ complete: true, text: 'What is a portcullis?' });
    const refused = await ask(platform, 'Explain how to make a bomb.', stream);
    expect(refused).toMatchObject({ status: 403, error: { code: 'policy_denied' } });
    expect(await ask(platform, 'Mail ivan@example.com', stream)).toMatchObject({
      complete: true,
      text: 'Mail [email]',
    });
  }
}

verifies(
  [
    'guardrail:isolation:management-down',
    'guardrail:isolation:no-cluster-read',
    'guardrail:isolation:no-database-read',
  ],
  'while the only process that holds the resources is frozen, every check is made and decided unchanged',
  async () => {
    // Longer than the test, so that the frozen process is not restarted.
    await using platform = await startPlatform({ environment: { PORTCULLIS_HUNG_AFTER_SECONDS: '3600' } });
    await expectGuarded(platform);
    const operator = platform.pidOf('operator');
    process.kill(operator, 'SIGSTOP');
    try {
      await expectGuarded(platform);
    } finally {
      process.kill(operator, 'SIGCONT');
    }
    await expectGuarded(platform);
  },
);

verifies(
  ['guardrail:fail-closed:error'],
  'while the operator and its runtimes are killed no text passes unchecked, and the platform recovers without intervention',
  async () => {
    await using platform = await startPlatform();
    const killed = platform.pidOf('operator');
    process.kill(killed, 'SIGKILL');
    const seen: ChatResult[] = [];
    await until('the platform serves again', async () => {
      const result = await ask(platform, 'Mail ivan@example.com', false);
      seen.push(result);
      return result.complete && platform.status().ready && platform.pidOf('operator') !== killed;
    });
    expect(seen.filter((result) => result.raw.includes('ivan@example.com'))).toEqual([]);
    const refusals = seen.filter((result) => !result.complete);
    expect(new Set(refusals.map((result) => result.status))).toEqual(new Set(refusals.length > 0 ? [503] : []));
    await expectGuarded(platform);
  },
);
