import { temporaryFolder } from '#kit/testing/temporary-folder';
import { type CheckProxy, startCheckProxy } from '../../../e2e/support/check-proxy.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../../../e2e/support/scripted-upstream.ts';
import type { AgentIssuer } from '../config.ts';
import type { GatewayOverrides } from '../service.ts';
import { routeGuard, routeSpec, storedRoute } from './route-builder.ts';
import { clientKey, ready, startGateway, type TestGateway } from './start-gateway.ts';
import { policySection, type RunningPolicy, startPolicy, termRule } from './start-policy.ts';

/**
 * A gateway between a scripted provider and a real runtime. Aliases: `model` is guarded, `open` is unguarded, and
 * `whole` is guarded by rules that cannot judge a stream. The proxy records every check.
 */
export type World = AsyncDisposable & {
  readonly folder: string;
  readonly upstream: ScriptedUpstream;
  readonly policy: RunningPolicy;
  readonly checks: CheckProxy;
  readonly gateway: TestGateway;
  /** Sends a JSON request with a valid client key. */
  post(
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<Response>;
  chat(body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
};

export const runtimeToken = 'runtime-service-token';

/** The rules and limits of the policy that the test gateway uses. */
export const words = {
  deniedInput: 'badword',
  maskedInput: 'card-4111',
  deniedOutput: 'leaked',
  maskedOutput: 'hidden',
  /** A word that is masked in requests and answers if it is a separate word. */
  maskedWord: 'passnumber',
  observed: 'watched',
} as const;

const mask = { type: 'mask', replacement: '***' } as const;
const maskedWord = termRule('mask-word', [words.maskedWord], mask, 'token');
const observe = (id: string) => ({ ...termRule(id, [words.observed]), mode: 'observe' }) as const;

export async function startWorld(overrides: GatewayOverrides & { readonly agents?: AgentIssuer } = {}): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder()).path;
  const upstream = stack.use(await startScriptedUpstream({ kind: 'answer', content: 'fine' }));
  const policy = stack.use(
    await startPolicy(folder, runtimeToken, {
      request: policySection(
        [termRule('deny', [words.deniedInput]), termRule('mask', [words.maskedInput], mask), maskedWord],
        [observe('watch')],
      ),
      response: policySection(
        [termRule('deny', [words.deniedOutput]), termRule('mask', [words.maskedOutput], mask), maskedWord],
        [observe('watch')],
      ),
    }),
  );
  const checks = stack.use(await startCheckProxy(policy.runtime.url));
  const gateway = stack.use(await startGateway(folder, runtimeToken, overrides));
  const pin = { ...policy.pin, addresses: [checks.url] };
  const endpoint = `${upstream.url}/v1`;
  gateway.routes.put(storedRoute('guarded', routeSpec('model', endpoint, routeGuard(pin))));
  gateway.routes.put(storedRoute('unguarded', routeSpec('open', endpoint, { mode: 'None' })));
  const whole = routeGuard(pin, undefined, { streaming: { allowed: false, rule: 'long' } });
  gateway.routes.put(storedRoute('whole', routeSpec('whole', endpoint, whole)));
  await ready(gateway);

  const post: World['post'] = (path, body, headers = {}, signal) =>
    fetch(`${gateway.service.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${clientKey}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  const owned = stack.move();
  return {
    folder,
    upstream,
    policy,
    checks,
    gateway,
    post,
    chat: (body, headers) => post('/v1/chat/completions', { model: 'model', ...body }, headers),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A conversation that consists of one user message. */
export function says(content: unknown): { readonly messages: readonly object[] } {
  return { messages: [{ role: 'user', content }] };
}

/** The error that a client receives after a deny, in a whole answer and in a stream. */
export const blockedError = {
  error: { message: 'Запрос отклонён политикой', type: 'guardrail_blocked', param: null, code: 'policy_denied' },
};
