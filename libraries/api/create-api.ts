import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { type ByteBudget, createByteBudget, type TakenBytes } from '#kit/http/byte-budget';
import { sendBytes, sendJson } from '#kit/http/json-answer';
import type { ClientFault, FaultAnswer, FetchHandler } from '#kit/http/listen';
import { drainRefused } from '#kit/http/read-body';
import { openTrace, type TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/parse-strict';
import { noSpans, type Spans } from '#kit/trace/span';
import { type JsonBody, largestHeldBytes, receiveJson } from './json-body.ts';
import {
  type ApiOperation,
  type ApiRequest,
  type ApiResponse,
  type ApiTable,
  type Authorizer,
  type FaultCodes,
  failure,
  type RefusedRequest,
} from './operation.ts';
import { passGates } from './pass-gates.ts';

type Env = { Bindings: HttpBindings };

type Asked = {
  readonly incoming: IncomingMessage;
  readonly path: Readonly<Record<string, string>>;
  /** The bytes of the body in the budget of the process. */
  readonly held: TakenBytes | undefined;
};

type ApiOptions<Service, Caller, Code extends string, Name extends string> = {
  readonly table: ApiTable<Service, Caller, Code, Name>;
  readonly service: Service;
  readonly authorizer: Authorizer<Caller, Code>;
  /** The code for an error that an operation throws, such as an unavailable dependency; undefined means `internal`. */
  readonly errorOf: (error: unknown, traceId: string) => Code | undefined;
  /** Called after the answer of each operation. `code` is `none` for a success. */
  readonly onEnded: (ended: {
    readonly operation: Name;
    readonly code: Code | 'none';
    readonly seconds: number;
    readonly traceId: string;
  }) => void;
  /**
   * Called before an operation answers with an error; the answer is sent after the returned promise has settled. The
   * promise must not reject.
   */
  readonly onRefused?: ((refused: RefusedRequest<Caller, Code, Name>) => Promise<void>) | undefined;
  /** Called with the error that an operation threw when the answer is `internal`. */
  readonly onInternalError: (operation: Name, error: unknown, traceId: string) => void;
  /** Receives a span of each operation; absent for a service that records no spans. */
  readonly spans?: Spans | undefined;
  /** JSON documents by path, served without authentication, such as OpenAPI documents. */
  readonly documents?: Readonly<Record<string, Buffer>>;
};

type Api = {
  readonly fetch: FetchHandler;
  /** The answer to a request that Node refuses before a handler runs, in the error body of the service. */
  readonly clientError: (fault: ClientFault) => FaultAnswer;
};

/**
 * Serves the operations of a table. Every operation answers with a traceparent and `cache-control: no-store`. HEAD is
 * answered as GET without a body; every other method of a known path, OPTIONS included, is 405 with `allow`.
 * @throws TypeError where an operation that is not public has no identity gate
 */
export function createApi<Service, Caller, Code extends string, Name extends string>(
  options: ApiOptions<Service, Caller, Code, Name>,
): Api {
  const { table, documents = {} } = options;
  const { operations, faults } = table;
  const open = operations.find(({ gates, public: isPublic }) => isPublic !== true && !gates.includes('identity'));
  if (open !== undefined) throw new TypeError(`the operation ${open.name} has no identity gate and is not public`);
  const app = new Hono<Env>();
  const bodies = createBodyBudget(table);
  const refused = (code: Code, allow?: string) => (context: Context<Env>) => {
    const { incoming, outgoing } = context.env;
    if (allow !== undefined) outgoing.setHeader('allow', allow);
    sendResponse(table, incoming, outgoing, traceOf(table, incoming), failure(code));
    return RESPONSE_ALREADY_SENT;
  };

  for (const [path, bytes] of Object.entries(documents)) {
    app.get(path, (context) => {
      sendBytes(context.env.outgoing, 200, 'application/json', bytes);
      return RESPONSE_ALREADY_SENT;
    });
    app.all(path, refused(faults.methodNotAllowed, 'GET, HEAD'));
  }
  // The route of a custom verb, `/things/{id}:verb`, would also match the route of its thing, so the routes with verbs
  // are first.
  const paths = [...Map.groupBy(operations, (operation) => operation.path)];
  const [verbs, things] = [paths.filter(([path]) => hasVerb(path)), paths.filter(([path]) => !hasVerb(path))];
  for (const [form, methods] of [...verbs, ...things]) {
    const route = routeOf(form);
    for (const operation of methods) {
      app.on(operation.method, route, async (context) => {
        const { incoming, outgoing } = context.env;
        using held = bodies?.open();
        const path = parametersOf(form, context.req.param());
        await serveOperation(options, operation, { incoming, outgoing, path, held });
        return RESPONSE_ALREADY_SENT;
      });
    }
    const allowed: string[] = methods.map(({ method }) => method);
    if (allowed.includes('GET')) allowed.push('HEAD');
    app.all(route, refused(faults.methodNotAllowed, allowed.join(', ')));
  }
  app.notFound(refused(faults.notFound));
  return { fetch: app.fetch, clientError: (fault) => clientError(table, fault) };
}

function createBodyBudget<Service, Caller, Code extends string>({
  operations,
  limits: { heldBodies, bodyBytes, bodyMs },
}: ApiTable<Service, Caller, Code>): ByteBudget | undefined {
  if (heldBodies === undefined) return undefined;
  const largest = Math.max(bodyBytes, ...operations.map((operation) => operation.bodyBytes ?? 0));
  return createByteBudget({ limit: heldBodies.bytes, largest: largestHeldBytes(largest), waitMs: bodyMs / 2 });
}

const verbForm = /\{(\w+)\}:(\w+)$/;

function hasVerb(path: string): boolean {
  return verbForm.test(path);
}

function routeOf(path: string): string {
  return path.replace(verbForm, ':$1{[^/]+:$2}').replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The parameters of a path, without the verb at the end of the last parameter. */
function parametersOf(path: string, matched: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, name = '', verb = ''] = verbForm.exec(path) ?? [];
  const value = matched[name];
  return value === undefined ? matched : { ...matched, [name]: value.slice(0, -verb.length - 1) };
}

async function serveOperation<Service, Caller, Code extends string, Name extends string>(
  options: ApiOptions<Service, Caller, Code, Name>,
  operation: ApiOperation<Service, Caller, Code, Name>,
  { outgoing, ...asked }: Asked & { readonly outgoing: ServerResponse },
): Promise<void> {
  const started = performance.now();
  const { table, spans = noSpans } = options;
  const { incoming, path } = asked;
  const context = openTrace(incoming.headers['traceparent'], spans.isRecording);
  const endSpan = spans.begin(context, { name: operation.name, kind: 'server' });
  const trace = named(table, incoming, context);
  const { traceId, traceparent } = trace;
  let caller: Caller | undefined;
  const { heldBodies } = table.limits;
  const onCaller = (found: Caller): void => {
    caller = found;
    if (heldBodies !== undefined) asked.held?.countFor(heldBodies.keyOf(found));
  };
  let body: JsonBody | undefined;
  const onBody = (read: JsonBody): void => {
    body = read;
  };
  const response = await respond(options, operation, traceparent, { ...asked, traceId, onCaller, onBody });
  if (response.kind === 'error') {
    const { code, isDecided } = response;
    const readBody = async (): Promise<JsonValue | undefined> => (body ?? (await readSmall(incoming)))?.json;
    await options.onRefused?.({
      operation: operation.name,
      code,
      isDecided,
      caller,
      incoming,
      traceId,
      path,
      readBody,
    });
  }
  sendResponse(table, incoming, outgoing, trace, response);
  const code = response.kind === 'error' ? response.code : 'none';
  const status = response.kind === 'error' ? table.errors[response.code].status : response.status;
  endSpan({
    attributes: {
      'portcullis.operation': operation.name,
      'portcullis.code': code,
      'http.response.status_code': status,
    },
    failed: code !== 'none',
  });
  options.onEnded({ operation: operation.name, code, seconds: (performance.now() - started) / 1_000, traceId });
}

/** The body of a refused request; undefined for a body that is large, late or not JSON. */
async function readSmall(incoming: IncomingMessage): Promise<JsonBody | undefined> {
  const body = await receiveJson(incoming, { bodyBytes: 8_192, bodyMs: 1_000, isOptional: false });
  return typeof body === 'string' ? undefined : body;
}

async function respond<Service, Caller, Code extends string, Name extends string>(
  { table, service, authorizer, errorOf, onInternalError }: ApiOptions<Service, Caller, Code, Name>,
  operation: ApiOperation<Service, Caller, Code, Name>,
  traceparent: string,
  arrival: Parameters<typeof passGates<Service, Caller, Code>>[3],
): Promise<ApiResponse<Code>> {
  try {
    const provided = await passGates(table, operation, authorizer, arrival);
    if ('kind' in provided) return provided;
    const { incoming, traceId } = arrival;
    return await operation.run(guarded(operation.name, { service, incoming, traceId, traceparent, ...provided }));
  } catch (error) {
    const code = errorOf(error, arrival.traceId);
    if (code === undefined) onInternalError(operation.name, error, arrival.traceId);
    return failure(code ?? table.faults.internal);
  }
}

/** A request whose missing members throw, so that an operation cannot treat a missing caller as authorized. */
function guarded<Service, Caller>(
  operation: string,
  members: Partial<ApiRequest<Service, Caller>>,
): ApiRequest<Service, Caller> {
  return new Proxy(members, {
    get(target, name): unknown {
      if (name in target) return Reflect.get(target, name);
      throw new TypeError(`the operation ${operation} has no gate that provides ${String(name)}`);
    },
  }) as ApiRequest<Service, Caller>;
}

function sendResponse<Service, Caller, Code extends string>(
  table: ApiTable<Service, Caller, Code>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { traceId, traceparent }: TraceContext,
  response: ApiResponse<Code>,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const named = table.traceHeader === undefined ? {} : { [table.traceHeader]: traceId };
  const headers = { traceparent, ...named, 'cache-control': 'no-store' };
  if (response.kind === 'success') {
    sendJson(outgoing, response.status, response.body, { ...headers, ...response.headers });
    return;
  }
  const { code, details = [] } = response;
  const { status, meaning } = table.errors[code];
  const body = table.errorBody({ code, message: meaning, traceId, details });
  sendJson(outgoing, status, body, { ...headers, ...hintsOf(status, code === table.faults.idempotencyInProgress) });
}

/** The trace of a request that no operation serves. */
function traceOf<Service, Caller, Code extends string>(
  table: ApiTable<Service, Caller, Code>,
  incoming: IncomingMessage,
): TraceContext {
  return named(table, incoming, openTrace(incoming.headers['traceparent']));
}

/** A trace under the name that the client gave it. */
function named<Service, Caller, Code extends string>(
  { traceHeader }: ApiTable<Service, Caller, Code>,
  { headers }: IncomingMessage,
  trace: TraceContext,
): TraceContext {
  const given = traceHeader === undefined ? undefined : headers[traceHeader];
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? { ...trace, traceId: given } : trace;
}

/** Headers that tell a client how to proceed (RFC 9110, 10.2.3 and 11.6.1). */
function hintsOf(status: number, isInProgress: boolean): Readonly<Record<string, string>> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status === 503 || status === 429 || isInProgress) return { 'retry-after': '1' };
  return {};
}

const faultNames = {
  headers_too_large: 'headersTooLarge',
  bad_request: 'malformedRequest',
  timeout: 'requestTimeout',
  expectation: 'expectationFailed',
} as const satisfies Record<ClientFault, keyof FaultCodes<string>>;

function clientError<Service, Caller, Code extends string>(
  { faults, errors, errorBody }: ApiTable<Service, Caller, Code>,
  fault: ClientFault,
): FaultAnswer {
  const code = faults[faultNames[fault]];
  const { status, meaning } = errors[code];
  const { traceId } = openTrace(undefined);
  const body = errorBody({ code, message: meaning, traceId, details: [] });
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}
