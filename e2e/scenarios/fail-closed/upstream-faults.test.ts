import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChatResult, chatCall } from '../../support/chat-call.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';
import { leak, streamFaults, type UpstreamFault, wholeFaults } from './upstream-faults.ts';

let platform: GuardedGateway;
beforeAll(async () => {
  platform = await startGuardedGateway({ environment: { PORTCULLIS_STREAM_IDLE_SECONDS: '1' } });
});
afterAll(async () => platform[Symbol.asyncDispose]());

const healthy = 'a healthy answer';

async function ask(stream: boolean): Promise<ChatResult> {
  return chatCall({ url: platform.url, key: platform.key, model: alias, content: 'Hello.', stream });
}

async function expectHealthy(stream: boolean): Promise<void> {
  platform.upstream.play({ kind: 'answer', content: healthy });
  expect(await ask(stream)).toMatchObject({ status: 200, complete: true, text: healthy });
}

async function expectClosed(stream: boolean, { script, status, code }: UpstreamFault): Promise<void> {
  await expectHealthy(stream);
  platform.upstream.play(script);
  const result = await ask(stream);
  expect(result.error).toMatchObject({ type: 'upstream_error', code });
  expect(result.status).toBe(status);
  expect(result.complete).toBe(false);
  expect(result.raw).not.toContain(leak);
  expect(result.raw).not.toContain('[DONE]');
  await expectHealthy(stream);
}

describe('a whole answer of a provider', () => {
  test.each(wholeFaults)(
    '$name in a complete answer of a provider: the client receives a gateway error and no text of the provider',
    (fault) => expectClosed(false, fault),
  );
});

describe('a streamed answer of a provider', () => {
  test.each(streamFaults)(
    '$name in a stream of a provider: the client receives a gateway error and no unchecked text',
    (fault) => expectClosed(true, fault),
  );
});
