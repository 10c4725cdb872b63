import { noUsage } from '#contracts/run-usage';
import type { TakenBytes } from '#kit/http/byte-budget';
import { headerValues } from '#kit/http/raw-headers';
import type { ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import type { CallOperation } from '../identity/call-verifier.ts';
import type { AgentServer } from './agent-server.ts';
import { checkContentType, type Exchange, noteUsage, receive, refuseA2a } from './exchange.ts';
import { sendMessage } from './send-message.ts';
import { streamMessage, subscribeToTask } from './stream-message.ts';
import { cancelTask, getTask, getTasks } from './task-operations.ts';

type A2aRoute = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The first capture group is the id of a task. */
  readonly path: RegExp;
  readonly operation: CallOperation;
  readonly hasBody: boolean;
  readonly run: (
    server: AgentServer,
    exchange: Exchange,
    identity: ExecutionIdentity,
    input: { readonly id: string; readonly body: Buffer },
  ) => Promise<void> | void;
};

const refuse = (code: 'push_notification_not_supported' | 'extended_card_not_configured') => (): Promise<never> =>
  atStep('files', (): never => {
    throw new AgentError(code);
  });
const push = {
  operation: 'tasks:push',
  hasBody: false,
  run: refuse('push_notification_not_supported'),
} as const satisfies Partial<A2aRoute>;
const subscribe = {
  path: /^\/tasks\/([^/:]+):subscribe$/,
  operation: 'tasks:subscribe',
  hasBody: false,
  run: (server, exchange, identity, { id }) => subscribeToTask(server, exchange, identity, id),
} as const satisfies Partial<A2aRoute>;

/** Every operation of A2A 1.0 in the HTTP+JSON binding. */
export const a2aRoutes: readonly A2aRoute[] = [
  {
    method: 'POST',
    path: /^\/message:send$/,
    operation: 'message:send',
    hasBody: true,
    run: (server, exchange, identity, { body }) => sendMessage(server, exchange, identity, body),
  },
  {
    method: 'POST',
    path: /^\/message:stream$/,
    operation: 'message:stream',
    hasBody: true,
    run: (server, exchange, identity, { body }) => streamMessage(server, exchange, identity, body),
  },
  { method: 'GET', path: /^\/tasks$/, operation: 'tasks:list', hasBody: false, run: getTasks },
  {
    method: 'GET',
    path: /^\/tasks\/([^/:]+)$/,
    operation: 'tasks:get',
    hasBody: false,
    run: (server, exchange, identity, { id }) => getTask(server, exchange, identity, id),
  },
  {
    method: 'POST',
    path: /^\/tasks\/([^/:]+):cancel$/,
    operation: 'tasks:cancel',
    hasBody: false,
    run: (server, exchange, identity, { id }) => cancelTask(server, exchange, identity, id),
  },
  // The tables of the specification require POST; its Protocol Buffers definition requires GET.
  { method: 'POST', ...subscribe },
  { method: 'GET', ...subscribe },
  { method: 'POST', path: /^\/tasks\/([^/:]+)\/pushNotificationConfigs$/, ...push },
  { method: 'GET', path: /^\/tasks\/([^/:]+)\/pushNotificationConfigs$/, ...push },
  { method: 'GET', path: /^\/tasks\/([^/:]+)\/pushNotificationConfigs\/[^/:]+$/, ...push },
  { method: 'DELETE', path: /^\/tasks\/([^/:]+)\/pushNotificationConfigs\/[^/:]+$/, ...push },
  {
    method: 'GET',
    path: /^\/extendedAgentCard$/,
    operation: 'card:extended',
    hasBody: false,
    run: refuse('extended_card_not_configured'),
  },
];

/** Takes steps one and two of a call, then the operation; every refusal is answered here. */
export async function answerA2aRoute(
  server: AgentServer,
  exchange: Exchange,
  route: A2aRoute,
  id: string,
): Promise<AgentError | undefined> {
  const { operation } = route;
  // A refusal before the start of the run reports that no tokens were used.
  if (operation === 'message:send') noteUsage(exchange, noUsage);
  try {
    const { body, identity } = await admitRequest(server, exchange, route);
    await route.run(server, exchange, identity, { id, body });
    return undefined;
  } catch (thrown) {
    const error = asAgentError(thrown);
    refuseA2a(exchange, error);
    return error;
  }
}

/**
 * Takes steps one and two of a call. The body counts in the budget of bodies until the operation has a place of a run
 * for it.
 */
async function admitRequest(
  server: AgentServer,
  exchange: Exchange,
  route: A2aRoute,
): Promise<{ readonly body: Buffer; readonly identity: ExecutionIdentity }> {
  const { rawHeaders } = exchange.incoming;
  using held = server.bodies.open();
  const body = await atStep('protocol', () => checkProtocol(server, exchange, route, held));
  const identity = await atStep('identity', () => server.verifier.verify(rawHeaders, route.operation));
  return { body, identity };
}

/** Step one of a call: checks version, media type and size, in this order (`agents:order:protocol-version`). */
async function checkProtocol(
  { agent }: AgentServer,
  exchange: Exchange,
  { hasBody }: A2aRoute,
  held: TakenBytes,
): Promise<Buffer> {
  const [version, ...more] = headerValues(exchange.incoming.rawHeaders, 'a2a-version');
  if (version !== '1.0' || more.length > 0) throw new AgentError('version_not_supported');
  if (hasBody) checkContentType(exchange);
  return receive(exchange, agent.bundle.limits.requestBytes, held);
}
