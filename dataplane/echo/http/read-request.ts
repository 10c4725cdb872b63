import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import { drainRefused, readBody } from '#kit/http/read-body';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { sendFault } from './error-answer.ts';

/** The limit of the gateway, bytes. */
const maxBodyBytes = 20 * 1_024 * 1_024;

/** The checked body of a request; undefined when a fault was answered instead, or the client is gone. */
export async function readRequest<S extends z.ZodType>(
  schema: S,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<z.infer<S> | undefined> {
  const body = await readBody(incoming, { limit: maxBodyBytes, signal });
  if (!body.ok) {
    if (body.fault !== 'too_large') return undefined;
    sendFault(outgoing, 'body_too_large');
    drainRefused(incoming, outgoing);
    return undefined;
  }
  const parsed = parse(body.bytes);
  if (parsed === undefined) {
    sendFault(outgoing, 'invalid_json');
    return undefined;
  }
  const checked = schema.safeParse(parsed.value);
  if (checked.success) return checked.data;
  sendFault(outgoing, 'invalid_request');
  return undefined;
}

function parse(bytes: Uint8Array): { value: unknown } | undefined {
  try {
    return { value: parseStrict(bytes) };
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
