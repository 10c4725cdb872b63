import { expect, test } from 'vitest';
import { startScriptedHttp } from '#kit/testing/scripted-http';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { contentFrame, startScriptedUpstream, wantsStream } from '../../../e2e/support/scripted-upstream.ts';
import { routeSpec, storedRoute } from '../testing/route-builder.ts';
import { ready, startGateway } from '../testing/start-gateway.ts';
import { contentOf, eventsOf } from '../testing/stream-script.ts';

const asked = { model: 'model', messages: [{ role: 'user', content: 'hi' }] };

function chat(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...asked, ...body }),
  });
}

test('a stream or a complete answer in progress when a gateway exits ends with an error', async () => {
  using folder = temporaryFolder();
  await using endless = await startScriptedHttp((response, request) => {
    if (!wantsStream(request)) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(contentFrame('begin'));
  });
  const gateway = await startGateway(folder.path, 'token', { open: true, drainMs: 200 });
  gateway.routes.put(storedRoute('r', routeSpec('model', endless.url, { mode: 'None' })));
  await ready(gateway);
  const streamed = await chat(gateway.service.url, { stream: true });
  const whole = chat(gateway.service.url, {});
  await until('both calls reached the provider', () => endless.seen.length === 2);

  const ended = gateway[Symbol.asyncDispose]();
  expect(gateway.service.isReady()).toBe(false);
  const events = eventsOf(await streamed.text());
  expect(contentOf(events.slice(0, -1))).toBe('begin');
  expect(JSON.parse(events.at(-1) ?? '')).toMatchObject({ error: { code: 'shutting_down' } });
  const answer = await whole;
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ error: { type: 'service_unavailable', code: 'shutting_down' } });
  await ended;
  await expect(chat(gateway.service.url, {})).rejects.toThrow();
});

test('a gateway with open authentication requires no key and forwards no key', async () => {
  using folder = temporaryFolder();
  await using upstream = await startScriptedUpstream({ kind: 'answer', content: 'fine' });
  await using gateway = await startGateway(folder.path, 'token', { open: true });
  gateway.routes.put(storedRoute('r', routeSpec('model', `${upstream.url}/v1`, { mode: 'None' })));
  await ready(gateway);
  expect((await chat(gateway.service.url, {})).status).toBe(200);
  expect((await chat(gateway.service.url, {}, { authorization: 'Bearer of-the-caller' })).status).toBe(200);
  expect(upstream.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
});

test('until a gateway has loaded its routes every model is 503; afterwards an unknown model is 404', async () => {
  using folder = temporaryFolder();
  await using gateway = await startGateway(folder.path, 'token', { open: true });
  expect((await chat(gateway.service.url, {})).status).toBe(503);
  expect((await fetch(`${gateway.service.adminUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${gateway.service.adminUrl}/livez`)).status).toBe(200);
  await ready(gateway);
  expect((await chat(gateway.service.url, {})).status).toBe(404);
  expect((await fetch(`${gateway.service.adminUrl}/readyz`)).status).toBe(200);
});
