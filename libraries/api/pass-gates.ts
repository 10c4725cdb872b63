import type { IncomingMessage } from 'node:http';
import type { TakenBytes } from '#kit/http/byte-budget';
import { headerValues } from '#kit/http/raw-headers';
import { type JsonBody, receiveJson } from './json-body.ts';
import {
  type ApiError,
  type ApiOperation,
  type ApiRequest,
  type ApiTable,
  type Authorizer,
  failure,
  type GateName,
  type Parameter,
} from './operation.ts';
import { problemOfNames, problemOfValue } from './query-problem.ts';

/** The request as received, with the raw parameters of its path. */
type Arrival<Caller> = {
  readonly incoming: IncomingMessage;
  readonly traceId: string;
  readonly path: Readonly<Record<string, string>>;
  /** The bytes of the body in the budget of the process; undefined if the table has no budget. */
  readonly held: TakenBytes | undefined;
  /** Called with the verified caller, even if the caller lacks a right. */
  readonly onCaller?: (caller: Caller) => void;
  /** Called with the body, even if a later gate refuses the request. */
  readonly onBody?: (body: JsonBody) => void;
};

type Provided<Caller> = Partial<
  Pick<ApiRequest<unknown, Caller>, 'caller' | 'path' | 'query' | 'body' | 'idempotencyKey'>
>;

/** Evaluates the gates of an operation in their order; the first error is the response. @throws the cause of an authorizer */
export async function passGates<Service, Caller, Code extends string>(
  table: ApiTable<Service, Caller, Code>,
  operation: ApiOperation<Service, Caller, Code>,
  authorizer: Authorizer<Caller, Code>,
  arrival: Arrival<Caller>,
): Promise<Provided<Caller> | ApiError<Code>> {
  const { faults } = table;
  const { incoming } = arrival;
  const authorize = async () => {
    const found = await authorizer.authorize(incoming.rawHeaders, {
      operation: operation.name,
      path: arrival.path,
      traceId: arrival.traceId,
    });
    if (found.caller !== undefined) arrival.onCaller?.(found.caller);
    if (found.kind === 'error' && found.cause !== undefined) throw found.cause;
    return found.kind === 'error' ? found : { caller: found.caller };
  };
  const ask: Record<GateName, () => Promise<Provided<Caller> | ApiError<Code>> | Provided<Caller> | ApiError<Code>> = {
    identity: authorize,
    right: authorize,
    query: () => {
      const query = new URL(incoming.url ?? '/', 'http://service').searchParams;
      const known = operation.parameters.filter((parameter) => parameter.in === 'query');
      const names = [...query.keys()];
      const fault = { code: faults.invalidQuery, hasDetails: table.namesParameters === true };
      const problem = problemOfNames(names, known);
      if (problem !== undefined) return failure(fault.code, fault.hasDetails ? [problem] : undefined);
      const read = readAll(known, (name) => query.get(name) ?? undefined, fault);
      return read.kind === 'error' ? read : { query: read.values };
    },
    path: () => {
      const known = operation.parameters.filter((parameter) => parameter.in === 'path');
      const read = readAll(known, (name) => arrival.path[name], { code: faults.invalidPath, hasDetails: false });
      if (read.kind === 'error') return read;
      return { path: (name) => read.values[name] ?? missing(operation.name, name) };
    },
    body: async () => {
      const isOptional = operation.isBodyOptional === true;
      const { bodyBytes = table.limits.bodyBytes } = operation;
      const body = await receiveJson(incoming, { ...table.limits, bodyBytes, isOptional }, arrival.held);
      if (body === 'overloaded') return failure(table.limits.heldBodies?.overloaded ?? faults.internal);
      if (typeof body === 'string') return failure(faults[body]);
      arrival.onBody?.(body);
      return { body };
    },
    idempotency_key: () => {
      const [key, ...more] = headerValues(incoming.rawHeaders, 'idempotency-key');
      if (key === undefined) return failure(faults.idempotencyKeyMissing);
      const { min, max } = table.limits.idempotencyKey;
      const isValid = more.length === 0 && key.length >= min && key.length <= max && /^[A-Za-z0-9._~-]+$/.test(key);
      return isValid ? { idempotencyKey: key } : failure(faults.idempotencyKeyInvalid);
    },
  };
  const provided: Provided<Caller> = {};
  for (const gate of operation.gates) {
    const result = await ask[gate]();
    if ('kind' in result) return result;
    Object.assign(provided, result);
  }
  return provided;
}

/**
 * The value of each parameter that was sent, or the error of the first invalid one. U+0000 is always invalid, because
 * PostgreSQL cannot store it in a text.
 */
function readAll<Code extends string>(
  parameters: readonly Parameter<Code>[],
  textOf: (name: string) => string | undefined,
  fault: { readonly code: Code; readonly hasDetails: boolean },
): { readonly kind: 'values'; readonly values: Readonly<Record<string, string>> } | ApiError<Code> {
  const values: Record<string, string> = {};
  for (const parameter of parameters) {
    const text = textOf(parameter.name);
    if (text === undefined && !parameter.required) continue;
    const isStorable = text !== undefined && !text.includes('\0');
    const value = isStorable ? (parameter.read === undefined ? text : parameter.read(text)) : undefined;
    if (value === undefined) {
      const code = parameter.fault ?? fault.code;
      return failure(code, fault.hasDetails ? [problemOfValue(parameter, text)] : undefined);
    }
    values[parameter.name] = value;
  }
  return { kind: 'values', values };
}

function missing(operation: string, name: string): never {
  throw new TypeError(`the operation ${operation} has no path parameter ${name}`);
}
