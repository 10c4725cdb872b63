import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import type { GatewayRoute } from '#resources/gateway-route';
import { apiVersion, kinds } from '#resources/kinds';
import { chatCall } from '../../support/chat-call.ts';
import { alias, type GuardedGateway, startGuardedGateway } from '../../support/start-guarded-gateway.ts';
import { until } from '../../support/until.ts';

/** A model behind the same runtime, whose checks may take longer. */
const patient = 'patient';

async function addPatientModel({ client, route }: GuardedGateway): Promise<void> {
  const { guardrail, binding } = route;
  if (guardrail.mode !== 'Policy') throw new Error('the route is guarded');
  const spec = {
    ...route,
    alias: patient,
    generationId: uuid(),
    binding: { ...binding, name: patient, uid: uuid(), id: uuid() },
    guardrail: { ...guardrail, deadlineMs: { ...guardrail.deadlineMs, request: 4_000 } },
  };
  await client.create<GatewayRoute>(kinds.gatewayRoute, {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: { name: patient },
    spec,
  });
}

test.each([1, 3])(
  'a replica that may make %i checks at a time at one address makes no more, and refuses who waits too long',
  async (most) => {
    await using gateway = await startGuardedGateway({
      environment: { PORTCULLIS_MAX_CHECKS_PER_ADDRESS: String(most) },
    });
    const { url, key, proxy, upstream } = gateway;
    const call = { url, key, model: alias, content: 'hello', stream: false };
    await addPatientModel(gateway);
    await until('both models are served', async () => (await chatCall({ ...call, model: patient })).complete);
    upstream.forget();
    let made = 0;
    proxy.inject(() => {
      made += 1;
      return { kind: 'silence' };
    });
    const ask = (count: number, model: string) => Array.from({ length: count }, () => chatCall({ ...call, model }));
    // Who has a place keeps it for longer than the others wait for one.
    const holding = ask(most, patient);
    await until('every place is taken', () => made === most);
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
