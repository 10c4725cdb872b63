import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { ImageSlots } from '../calls/image-slots.ts';
import type { AgentExchange } from '../calls/refuse-call.ts';
import { CallBytes } from './call-bytes.ts';
import { type BodyParts, receiveCallBody } from './receive-body.ts';

/** Messages of MCP with which no run begins in the process of a flow. */
const controls: ReadonlySet<JsonValue | undefined> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'notifications/initialized',
  'notifications/cancelled',
]);
/** Largest message of these, bytes; a larger one counts as a run. */
const mostBytes = 65_536;

/** A message that has arrived before its call takes the place of a run. */
export type ArrivedMessage = {
  /** The place of its caller among the messages that arrive or that begin no run. */
  readonly place: Disposable;
  readonly bytes: CallBytes;
  readonly startsRun: boolean;
  /** The body, once: no object refers to it afterwards. */
  take(): Buffer | undefined;
};

type MessageParts = BodyParts & { readonly reads: ImageSlots; readonly readsAtOnce: number };

/**
 * Receives a message of MCP for a flow, whose method decides whether a run begins: a caller with all of its runs can still
 * cancel one of them.
 * @param caller the caller with the agent, and the person
 * @throws AgentRefusal
 */
export async function receiveMessage(
  plane: MessageParts,
  exchange: AgentExchange,
  call: Parameters<typeof receiveCallBody>[2],
  caller: { readonly key: string; readonly person: string; readonly signal: AbortSignal },
): Promise<ArrivedMessage> {
  const place = plane.reads.take(`${caller.key} message`, plane.readsAtOnce);
  if (place === undefined) throw new AgentRefusal('too_many_runs', { 'retry-after': '1' });
  using held = new DisposableStack();
  held.use(place);
  const bytes = held.use(new CallBytes(plane.bodies, caller.person));
  let body = await receiveCallBody(plane, exchange, call, { bytes, signal: caller.signal });
  const startsRun = !isControl(body);
  held.move();
  return {
    place,
    bytes,
    startsRun,
    take() {
      const taken = body;
      body = undefined;
      return taken;
    },
  };
}

/** Read as strictly as by the process, so that both see the same method. */
function isControl(body: Buffer | undefined): boolean {
  if (body === undefined || body.length > mostBytes) return false;
  try {
    const message = parseStrict(body);
    const isObject = typeof message === 'object' && message !== null && !Array.isArray(message);
    return isObject && controls.has(message['method']);
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}
