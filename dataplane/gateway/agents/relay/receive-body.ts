import { withTimeout } from '#kit/concurrency/abort';
import type { ByteBudget } from '#kit/http/byte-budget';
import { readBody } from '#kit/http/read-body';
import type { RoutedVersion } from '#resources/agent-route';
import type { RequestBytes } from '../../relay/held-frames.ts';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentOperation } from '../calls/parse-call.ts';
import type { AgentExchange } from '../calls/refuse-call.ts';

export type BodyParts = {
  /** Bytes of the bodies and judged answers that all calls hold together. */
  readonly bodies: ByteBudget;
  readonly maxBodyMs: number;
};

/** Largest body of an operation that starts no run, bytes. */
const smallBytes = 65_536;

/**
 * Reads the body of a call: at most as many bytes as the version accepts, within the time limit of the gateway, and
 * without a token of the caller (`agent-gateway:token:original-never-passed`).
 * @param bytes the bytes of the call in the budget of the gateway
 * @throws AgentRefusal
 */
export async function receiveCallBody(
  { maxBodyMs }: Pick<BodyParts, 'maxBodyMs'>,
  { incoming }: AgentExchange,
  call: { readonly operation: AgentOperation; readonly version: RoutedVersion; readonly token: string | undefined },
  { bytes, signal }: { readonly bytes: RequestBytes; readonly signal: AbortSignal },
): Promise<Buffer | undefined> {
  const { operation, version, token } = call;
  if (token !== undefined && decoded(incoming.url ?? '').includes(token)) throw new AgentRefusal('token_exposed');
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return undefined;
  const limit = operation.isRun ? version.limits.requestBytes : smallBytes;
  using time = withTimeout(signal, maxBodyMs);
  const body = await readBody(incoming, { limit, signal: time.signal, hold: (more) => bytes.take(more) });
  if (!body.ok) {
    if (signal.aborted) throw signal.reason;
    if (body.fault === 'too_large') throw new AgentRefusal('request_too_large');
    if (body.fault === 'refused') throw new AgentRefusal('overloaded');
    throw new AgentRefusal(time.timedOut() ? 'request_timeout' : 'cancelled');
  }
  if (token !== undefined && holdsText(body.bytes, token)) throw new AgentRefusal('token_exposed');
  return body.bytes;
}

/** Whether a body contains a text of ASCII letters, either as it is or with JSON escapes. */
function holdsText(bytes: Buffer, text: string): boolean {
  if (bytes.includes(text)) return true;
  if (!bytes.includes('\\u')) return false;
  const unescaped = bytes
    .toString('latin1')
    .replace(/\\u00([2-7][0-9a-fA-F])/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return unescaped.includes(text);
}

function decoded(url: string): string {
  try {
    return `${url} ${decodeURIComponent(url)}`;
  } catch {
    return url;
  }
}
