import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { managementErrors } from '#contracts/management-errors';
import { sendBytes } from '#kit/http/json-answer';
import type { ClientFault, FaultAnswer } from '#kit/http/listen';
import type { Management } from './exchange.ts';
import { errorBody, refuse } from './reply.ts';
import { type Method, managementRoutes, type PathRoutes } from './routes.ts';
import { runOperation, sendReply } from './run-operation.ts';
import { openTrace } from './trace.ts';

type Env = { Bindings: HttpBindings };

/** The documents of the interface, as they are served; nobody needs a token to read them. */
export type Documents = Readonly<Record<string, Buffer>>;

/** The routes of the management API, and the documents that describe it. */
export function createApp(management: Management, documents: Documents): Hono<Env> {
  const app = new Hono<Env>();
  for (const [path, bytes] of Object.entries(documents)) {
    app.get(path, (context) => {
      sendBytes(context.env.outgoing, 200, 'application/json', bytes);
      return RESPONSE_ALREADY_SENT;
    });
    app.all(path, refused('method_not_allowed', 'GET, HEAD'));
  }
  for (const routes of managementRoutes) addRoutes(app, management, routes);
  app.notFound(refused('not_found'));
  return app;
}

function addRoutes(app: Hono<Env>, management: Management, { path, methods }: PathRoutes): void {
  for (const [method, operation] of Object.entries(methods)) {
    app.on(method, path, async (context) => {
      const { incoming, outgoing } = context.env;
      await runOperation(management, operation, incoming, outgoing, context.req.param());
      return RESPONSE_ALREADY_SENT;
    });
  }
  const allowed = Object.keys(methods) as Method[];
  app.all(path, refused('method_not_allowed', [...allowed, ...(methods.GET ? ['HEAD'] : [])].join(', ')));
}

function refused(code: ManagementErrorCode, allow?: string) {
  return (context: Context<Env>) => {
    const { incoming, outgoing } = context.env;
    if (allow !== undefined) outgoing.setHeader('allow', allow);
    sendReply(incoming, outgoing, openTrace(incoming.headers['traceparent']), refuse(code));
    return RESPONSE_ALREADY_SENT;
  };
}

const faults = {
  headers_too_large: 'headers_too_large',
  bad_request: 'invalid_json',
  timeout: 'request_timeout',
  expectation: 'expectation_failed',
} as const satisfies Record<ClientFault, ManagementErrorCode>;

/** What Node refuses by itself, in the shape of the API. */
export function clientFault(fault: ClientFault): FaultAnswer {
  const code = faults[fault];
  const body = errorBody(code, openTrace(undefined).traceId);
  return { status: managementErrors[code].status, contentType: 'application/json', body: JSON.stringify(body) };
}
