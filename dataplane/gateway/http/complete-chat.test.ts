import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import { temporaryFolder } from '../../../e2e/support/temporary-folder.ts';
import { verifies } from '../../../e2e/support/verifies.ts';
import { guardOf, routeSpec, storedRoute } from '../testing/route-builder.ts';
import { clientKey, ready, startGateway, type TestGateway } from '../testing/start-gateway.ts';
import { type RunningPolicy, section, startPolicy, termRule } from '../testing/start-policy.ts';

const stack = new AsyncDisposableStack();
let gateway: TestGateway;
let upstream: ScriptedUpstream;
let policy: RunningPolicy;

beforeAll(async () => {
  const folder = stack.use(temporaryFolder()).path;
  upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'fine' }));
  policy = stack.use(
    await startPolicy(folder, 'runtime-token', {
      request: section([termRule('in', ['badword'])]),
      response: section([termRule('out', ['leak'])]),
    }),
  );
  gateway = stack.use(await startGateway(folder, 'runtime-token'));
  gateway.routes.put(storedRoute('a', routeSpec('model', `${upstream.url}/v1`, guardOf(policy.pin))));
  await ready(gateway);
});
afterAll(() => stack.disposeAsync());

function chat(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe('a buffered chat request', () => {
  verifies(['gateway:input:deny-non-stream'], 'is stopped before the model', async () => {
    upstream.forget();
    const answer = await chat({ model: 'model', messages: [{ role: 'user', content: 'a badword' }] });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toEqual({
      error: { message: 'Запрос отклонён политикой', type: 'guardrail_blocked', param: null, code: 'policy_denied' },
    });
    expect(upstream.seen).toEqual([]);
    const passed = await chat({ model: 'model', messages: [{ role: 'user', content: 'hello' }] });
    expect(await passed.json()).toMatchObject({ choices: [{ message: { content: 'fine' } }] });
  });
});
