import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import { chatCall } from '../../support/chat-call.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';

/** A model with the same runtime and a longer check deadline. */
const slow = 'slow';

async function addSlowModel({ client, route }: GuardedGateway): Promise<void> {
  const { guardrail, binding } = route;
  if (guardrail.mode !== 'Policy') throw new Error('the route is guarded');
  const spec = {
    ...route,
    alias: slow,
    generationId: uuid(),
    binding: { ...binding, name: slow, uid: uuid(), id: uuid() },
    guardrail: { ...guardrail, deadlineMs: { ...guardrail.deadlineMs, request: 4_000 } },
  };
  await client.create<GatewayRoute>(kinds.gatewayRoute, {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name: slow },
    spec,
  });
}

test.each([1, 3])(
  'a replica limited to %i concurrent checks at one address makes no more, and fails requests that wait too long',
  async (most) => {
    await using gateway = await startGuardedGateway({
      environment: { PORTCULLIS_MAX_CHECKS_PER_ADDRESS: String(most) },
    });
    const { url, key, proxy, upstream } = gateway;
    const call = { url, key, model: alias, content: 'hello', stream: false };
    await addSlowModel(gateway);
    await until('both models are served', async () => (await chatCall({ ...call, model: slow })).complete);
    upstream.forget();
    let made = 0;
    proxy.inject(() => {
      made += 1;
      return { kind: 'silence' };
    });
    const ask = (count: number, model: string) => Array.from({ length: count }, () => chatCall({ ...call, model }));
    // The slots stay occupied for longer than the other requests may wait.
    const holding = ask(most, slow);
    await until('every slot is taken', () => made === most);
    const waiting = await Promise.all(ask(2, alias));
    expect(made).toBe(most);
    const answers = [...waiting, ...(await Promise.all(holding))];
    expect(made).toBe(most);
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, error: { type: 'guardrail_error' } });
    expect(upstream.seen).toEqual([]);
    proxy.inject({ kind: 'pass' });
    expect(await chatCall(call)).toMatchObject({ status: 200, complete: true });
  },
);
