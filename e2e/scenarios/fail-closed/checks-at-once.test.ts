import { expect, test } from 'vitest';
import { chatCall } from '../../support/chat-call.ts';
import { alias, startGuardedGateway } from '../../support/start-guarded-gateway.ts';

test.each([1, 3])(
  'a replica that may make %i checks at a time at one address makes no more, and refuses who waits too long',
  async (most) => {
    await using gateway = await startGuardedGateway({
      environment: { PORTCULLIS_MAX_CHECKS_PER_ADDRESS: String(most) },
    });
    const { url, key, proxy } = gateway;
    let made = 0;
    proxy.inject(() => {
      made += 1;
      return { kind: 'silence' };
    });
    const call = { url, key, model: alias, content: 'hello', stream: false };
    const answers = await Promise.all(Array.from({ length: most + 2 }, () => chatCall(call)));
    expect(made).toBe(most);
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, error: { type: 'guardrail_error' } });
    expect(gateway.upstream.seen).toEqual([]);
    proxy.inject({ kind: 'pass' });
    expect(await chatCall(call)).toMatchObject({ status: 200, complete: true });
  },
);
