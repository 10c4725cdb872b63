import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { closeServer } from '#kit/testing/loopback';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { routeGuard, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { ready, startGateway } from '../testing/start-gateway.ts';
import { policySection, startPolicy } from '../testing/start-policy.ts';

test('a changed address of a route gets neither the runtime token nor texts, and the previous version serves', async () => {
  using folder = temporaryFolder();
  const received: string[] = [];
  const stranger = createServer((incoming, outgoing) => {
    received.push(`${incoming.method} ${incoming.url} ${incoming.headers.authorization}`);
    outgoing.writeHead(503).end();
  });
  // Another address of the loopback network stands for another machine.
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.2', resolve));
  const address = stranger.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  await using policy = await startPolicy(folder.path, 'token', { request: policySection(), response: policySection() });
  await using gateway = await startGateway(folder.path, 'token', { open: true });
  const put = (addresses: readonly string[]): void =>
    gateway.routes.put(
      storedRoute('r', routeSpec('model', `${upstream.url}/v1`, routeGuard({ ...policy.pin, addresses }))),
    );
  put(policy.pin.addresses);
  await ready(gateway);
  put([`http://127.0.0.2:${port}`]);
  await until('the gateway rejects the version', () => gateway.reports.at(-1)?.rejected.length === 1);
  expect(gateway.reports.at(-1)?.rejected).toMatchObject([{ reason: 'invalid_route: guardrail.addresses' }]);
  const answer = await fetch(`${gateway.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model', messages: [{ role: 'user', content: 'hi' }] }),
  });
  expect(answer.status).toBe(200);
  expect(received).toEqual([]);
  await closeServer(stranger);
});
