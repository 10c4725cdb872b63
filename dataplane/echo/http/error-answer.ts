import type { ServerResponse } from 'node:http';
import { sendJson } from '#kit/http/json-answer';

/** Faults of a request with their status, in the shape that OpenAI clients expect. */
const faults = {
  invalid_json: { status: 400, message: 'The body is not strict JSON.' },
  invalid_request: { status: 400, message: 'The body does not have the members that this path needs.' },
  body_too_large: { status: 413, message: 'The body is too large.' },
  not_found: { status: 404, message: 'The path does not exist.' },
  method_not_allowed: { status: 405, message: 'The path exists, the method does not.' },
} as const;

type EchoFault = keyof typeof faults;

export function sendFault(outgoing: ServerResponse, fault: EchoFault): void {
  const { status, message } = faults[fault];
  sendJson(outgoing, status, { error: { message, type: 'invalid_request_error', param: null, code: fault } });
}
