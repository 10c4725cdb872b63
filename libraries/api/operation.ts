import type { IncomingMessage } from 'node:http';
import type { JsonValue } from '#kit/json/parse-strict';
import type { JsonBody } from './json-body.ts';

/**
 * Every error of a service by its code. The meaning is the message of the response and repeats no part of a request.
 */
type ErrorTable<Code extends string> = Readonly<Record<Code, { readonly status: number; readonly meaning: string }>>;

/** One invalid member of a body. `path` is a JSON Pointer (RFC 6901); the message holds no value of the request. */
export type ErrorDetail = { readonly path: string; readonly message: string };

export type ApiError<Code extends string> = {
  readonly kind: 'error';
  readonly code: Code;
  readonly details?: readonly ErrorDetail[];
  /**
   * Whether this error states that nothing was changed and nothing will be, although its code usually states the
   * opposite.
   */
  readonly isDecided?: boolean;
};

export type ApiSuccess = {
  readonly kind: 'success';
  readonly status: number;
  /** The body, which is sent as JSON; an undefined body is not sent. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ApiResponse<Code extends string> = ApiSuccess | ApiError<Code>;

export function success(body: unknown, headers: Readonly<Record<string, string>> = {}): ApiSuccess {
  return { kind: 'success', status: 200, body, headers };
}

export function failure<Code extends string>(code: Code, details?: readonly ErrorDetail[]): ApiError<Code> {
  return details === undefined ? { kind: 'error', code } : { kind: 'error', code, details };
}

/**
 * One request that passed the gates of its operation. A member that a gate provides (`caller`, `query`, `path`, `body`,
 * `idempotencyKey`) throws a TypeError if the operation does not list that gate.
 */
export type ApiRequest<Service, Caller> = {
  /** Dependencies that the operations of one process share. */
  readonly service: Service;
  readonly incoming: IncomingMessage;
  /** The trace id of the request: 32 hexadecimal digits (W3C Trace Context), or the header `traceHeader` of the table. */
  readonly traceId: string;
  /** The header `traceparent` for calls of the operation: they are below the span of the request. */
  readonly traceparent: string;
  /** The caller: its identity and, if the service has tenants, its tenant. */
  readonly caller: Caller;
  /** A parameter of the path, decoded, as `read` of the parameter returns it. @throws TypeError for an unknown name */
  readonly path: (name: string) => string;
  /** Query parameters that were sent, by name, as `read` of the parameter returns them. */
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: JsonBody;
  readonly idempotencyKey: string;
};

/**
 * The standard gates; an operation lists the gates that it has, in the order of their evaluation.
 * - `identity`: the authorizer of the service
 * - `query`: no unknown and no repeated parameter, each value valid
 * - `path`: each parameter of the path valid
 * - `body`: media type, declared size, then the bytes within size and time; the operation itself checks that the body
 *   is JSON
 * - `right`: a second call of the authorizer, because the body may have arrived slowly
 * - `idempotency_key`: exactly one header of the right form
 */
export type GateName = 'identity' | 'query' | 'path' | 'body' | 'right' | 'idempotency_key';

/** A parameter as OpenAPI describes it, and the function that reads its value. */
export type Parameter<Code extends string> = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required: boolean;
  /** JSON Schema 2020-12. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns the parsed value; undefined when it is invalid. The values of headers are read by their gates. */
  readonly read?: (text: string) => string | undefined;
  /** The error for an invalid value, if it is not the fault `path` or `query`. */
  readonly fault?: Code;
};

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One row of the operations table of a service: all data for its route, its OpenAPI document and its reference page.
 */
export type ApiOperation<Service, Caller, Code extends string, Name extends string = string> = {
  /** operationId of OpenAPI, and the label of metrics and logs. */
  readonly name: Name;
  readonly method: Method;
  /** Path of the operation in the notation of OpenAPI: `/things/{thingId}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /**
   * The gates of the operation in the order of their evaluation. Only an operation with `public` may leave out
   * `identity`.
   */
  readonly gates: readonly GateName[];
  readonly public?: true;
  /**
   * The relation to an object that the caller needs, `x-right` in the document; absent if no single relation decides.
   */
  readonly right?: string;
  readonly parameters: readonly Parameter<Code>[];
  /** Name of the schema of the request body. */
  readonly body?: string;
  /** Whether a request without a body, of any media type, means the body `{}`. */
  readonly isBodyOptional?: true;
  /** Largest body, bytes; when absent, the largest body of the table. */
  readonly bodyBytes?: number;
  readonly success: {
    readonly status: 200 | 201 | 202;
    readonly description: string;
    /** Name of the schema of the response body. */
    readonly schema: string;
    /** Names of headers in addition to traceparent, as the document of the service describes them. */
    readonly headers: readonly string[];
    /** Why the operation can also answer 202 without a body. */
    readonly orAccepted?: string;
  };
  /** Error codes in addition to those that every operation of the service has. */
  readonly errors: readonly Code[];
  /** Ids of the obligations that the operation fulfils (e2e/requirements). */
  readonly obligations: readonly string[];
  readonly run: (request: ApiRequest<Service, Caller>) => Promise<ApiResponse<Code>> | ApiResponse<Code>;
};

/** The code with which a service answers each fault that this library detects. */
export type FaultCodes<Code extends string> = {
  readonly malformedRequest: Code;
  readonly headersTooLarge: Code;
  readonly expectationFailed: Code;
  readonly notFound: Code;
  readonly methodNotAllowed: Code;
  readonly invalidQuery: Code;
  readonly invalidPath: Code;
  readonly unsupportedMediaType: Code;
  readonly bodyTooLarge: Code;
  readonly requestTimeout: Code;
  readonly idempotencyKeyMissing: Code;
  readonly idempotencyKeyInvalid: Code;
  readonly idempotencyKeyReused: Code;
  readonly idempotencyInProgress: Code;
  readonly internal: Code;
};

/** The operations table of a service. */
export type ApiTable<Service, Caller, Code extends string, Name extends string = string> = {
  readonly operations: readonly ApiOperation<Service, Caller, Code, Name>[];
  readonly errors: ErrorTable<Code>;
  /** Errors that every operation of the service can answer with. */
  readonly everyError: readonly Code[];
  readonly faults: FaultCodes<Code>;
  /** The body of every error, as the document of the service prescribes it. */
  readonly errorBody: (error: {
    readonly code: Code;
    readonly message: string;
    readonly traceId: string;
    readonly details: readonly ErrorDetail[];
  }) => unknown;
  /**
   * Header whose value, 1 to 128 visible ASCII characters, is the trace id of a request; every answer has the header,
   * too. Absent if the trace id comes from traceparent only.
   */
  readonly traceHeader?: string;
  /** Whether the error of an invalid query has a detail that names the parameter. */
  readonly namesParameters?: true;
  readonly limits: {
    /** Limits of a body: its size in bytes, and the timeout for receiving it in milliseconds. */
    readonly bodyBytes: number;
    readonly bodyMs: number;
    /**
     * Bytes of the large bodies that all requests hold until their answers, and the error if these bytes are not free
     * within half of the time for a body. A part of the budget is reserved for the oldest request; the requests of
     * callers with the same key hold at most half of the remaining part. Absent for a service whose bodies are small.
     */
    readonly heldBodies?: {
      readonly bytes: number;
      readonly overloaded: Code;
      readonly keyOf: (caller: Caller) => string;
    };
    readonly idempotencyKey: { readonly min: number; readonly max: number };
  };
};

/** The operation that a caller requests. The parameters of the path are not validated yet. */
export type AskedOperation = {
  readonly operation: string;
  readonly path: Readonly<Record<string, string>>;
};

/**
 * A refusal of an authorizer. `caller` is present if the identity was verified and only a right is missing. `cause` is
 * the error of a dependency that did not answer; it is answered and logged like an error that an operation throws.
 */
export type AuthorizerError<Caller, Code extends string> = ApiError<Code> & {
  readonly caller?: Caller;
  readonly cause?: unknown;
};

/** A request of a caller, whose trace the log lines about its authorization name. */
export type AskedRequest = AskedOperation & { readonly traceId: string };

/** Authorizes every request separately, and never throws because of a token or a network. */
export type Authorizer<Caller, Code extends string> = {
  /** @param asked the operation, with the raw parameters of its path */
  authorize(
    rawHeaders: readonly string[],
    asked: AskedRequest,
  ): Promise<{ readonly kind: 'caller'; readonly caller: Caller } | AuthorizerError<Caller, Code>>;
};

/** A request that an operation answered with an error. */
export type RefusedRequest<Caller, Code extends string, Name extends string> = {
  readonly operation: Name;
  readonly code: Code;
  /** Whether the error states that nothing was changed and nothing will be; undefined if it makes no such statement. */
  readonly isDecided: boolean | undefined;
  /** Absent if the request failed before its identity was verified. */
  readonly caller: Caller | undefined;
  readonly incoming: IncomingMessage;
  readonly traceId: string;
  /** The raw parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
  /**
   * The JSON of the body, not validated. A body that no gate has read is read now: at most 8 KiB, for at most a second.
   * Undefined for a body that is larger, slower or not JSON.
   */
  readonly readBody: () => Promise<JsonValue | undefined>;
};
