import { z } from 'zod';

/** Bounds of connections. Times in milliseconds, sizes in bytes. */
export const flowConnectionLimits = {
  name: 128,
  toolName: 128,
  path: 4_096,
  queryNames: 64,
  requestBytes: 262_144,
  timeoutMs: { min: 100, max: 120_000, default: 10_000 },
  answerBytes: { min: 1, max: 1_048_576, default: 262_144 },
  concurrency: { min: 1, max: 256, default: 16 },
} as const;

export const connectionMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export const connectionNameSchema = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/);

/** The path at the gateway that calls a connection; the name of the connection is encoded as one segment. */
export const connectionsPath = '/connections/';

/** The audience of the token with which a run calls one connection. */
export function connectionAudience(name: string): string {
  return `urn:portcullis:connection:${name}`;
}

/** The body of `POST /connections/{name}`: a call of an HTTP service, or of a tool of an MCP server. */
export const connectionCallSchema = z.union([
  z.strictObject({
    method: z.enum(connectionMethods),
    path: z.string().min(1).max(flowConnectionLimits.path),
    query: z.record(z.string(), z.string()).default({}),
    body: z.json().optional(),
  }),
  z.strictObject({
    tool: z.string().min(1).max(flowConnectionLimits.toolName),
    arguments: z.record(z.string(), z.json()),
  }),
]);
export type ConnectionCall = z.output<typeof connectionCallSchema>;
export type HttpConnectionCall = Extract<ConnectionCall, { readonly path: string }>;
export type McpConnectionCall = Extract<ConnectionCall, { readonly tool: string }>;

const error = (status: number, meaning: string) => ({ status, meaning }) as const;

/** Every error with which the gateway ends a call of a connection. The meaning is the message of the answer. */
export const connectionErrors = {
  unauthenticated: error(401, 'The token is missing, invalid or for another connection.'),
  identity_unavailable: error(503, 'The keys that verify tokens cannot be read now.'),
  connection_unknown: error(404, 'There is no such connection for the agent.'),
  method_not_allowed: error(405, 'A connection is called with POST.'),
  content_type_not_supported: error(415, 'The content type must be application/json.'),
  invalid_request: error(400, 'The request does not describe a call of this connection.'),
  request_too_large: error(413, 'The request is larger than the limit.'),
  call_forbidden: error(403, 'The connection does not allow this method or this tool.'),
  address_refused: error(403, 'The host of the connection has an address that is not allowed.'),
  tool_failed: error(422, 'The tool refused the call or failed.'),
  too_many_calls: error(429, 'The connection has as many calls as it may have now.'),
  rate_limited: error(429, 'The service of the connection refuses further calls for now.'),
  answer_invalid: error(502, 'The answer is a redirect, too large, compressed or of another form than expected.'),
  credential_unavailable: error(503, 'The credential of the connection cannot be read.'),
  connection_unavailable: error(503, 'The service of the connection does not answer.'),
  deadline_exceeded: error(504, 'The service of the connection did not answer in time.'),
  shutting_down: error(503, 'This replica of the gateway ends: call again.'),
  cancelled: error(499, 'The caller ended the call.'),
  internal: error(500, 'The call failed because of an internal error.'),
} as const;
export type ConnectionErrorCode = keyof typeof connectionErrors;

const codes = Object.keys(connectionErrors) as [ConnectionErrorCode, ...ConnectionErrorCode[]];

/** The body of an answer that is not 200. */
export const connectionRefusalSchema = z.object({
  error: z.object({ code: z.enum(codes), message: z.string(), traceId: z.string() }),
});
