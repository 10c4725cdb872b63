import { expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import { definitionOf } from '../../../operator/testing/objects.ts';
import { chatCall } from '../../support/chat-call.ts';
import { startLoad } from '../../support/load.ts';
import { bindingCondition, bindingOf, policyOf, writePolicy } from '../../support/resources.ts';
import { startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { startPlatform } from '../../support/start-platform.ts';

const answers = (origin: string): Promise<boolean> =>
  fetch(new URL('/readyz', origin)).then(
    (answer) => answer.ok,
    () => false,
  );

test('no request is lost when the number of runtime processes is raised and lowered under load', async () => {
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  await using platform = await startPlatform({
    providers: [{ name: 'scripted', kind: 'model', endpoint: `${upstream.url}/v1`, enabled: true }],
  });
  const { client, key } = platform;
  const url = platform.status().addresses.gateway;
  const { request, response, providers } = definitionOf('portal');
  const patient = (section: typeof request) => ({
    ...section,
    deadlineMs: 5_000,
    baseline: section.baseline.map((rule) => ({ ...rule, timeoutMs: 4_000 })),
  });
  await writePolicy(client, policyOf('guard', { request: patient(request), response: patient(response), providers }));
  await client.create(kinds.modelBinding, bindingOf('chat', 'guard', 1));
  await bindingCondition(client, 'chat', 'Applied', 'True');
  const call = () => chatCall({ url, key, model: 'chat', content: 'hello', stream: false });
  const load = startLoad({ workers: 4, restMs: 5, call });
  onTestFinished(async () => void (await load.stop()));

  async function scale(replicas: number): Promise<readonly string[]> {
    await client.patch(kinds.modelBinding, 'chat', [{ op: 'replace', path: '/spec/replicas', value: replicas }]);
    const addresses = await until(`the route names ${replicas} processes`, async () => {
      const guardrail = (await client.get<GatewayRoute>(kinds.gatewayRoute, 'chat'))?.spec.guardrail;
      return guardrail?.mode === 'Policy' && guardrail.addresses.length === replicas ? guardrail.addresses : undefined;
    });
    const before = load.results.length;
    await until('many requests were answered since', () => load.results.length > before + 200);
    return addresses;
  }

  const three = await scale(3);
  const [one] = await scale(1);
  for (const retired of three.filter((address) => address !== one)) {
    await until('the surplus process has ended', async () => !(await answers(retired)));
  }
  const results = await load.stop();
  expect(results.length).toBeGreaterThan(400);
  expect(results.filter(({ status }) => status !== 200)).toEqual([]);
});
