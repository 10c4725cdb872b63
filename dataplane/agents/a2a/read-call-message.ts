import { v7 as uuid } from 'uuid';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { AgentCall, CallPart } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import { type SendRequest, sendRequestSchema, type WirePart } from './wire.ts';

/** An A2A message as a protocol-neutral call, and the media types that its client accepts for the result. */
type ReadMessage = {
  readonly call: AgentCall;
  /** Media types of the result that both the agent and the client support. */
  readonly outputModes: readonly string[];
  /** Task that the message continues. No task of this agent accepts a second message. */
  readonly taskId: string | undefined;
};

/** @throws AgentError invalid_request, content_type_not_supported, push_notification_not_supported */
export function readCallMessage({ manifest }: LoadedAgent, json: unknown): ReadMessage {
  const read = sendRequestSchema.safeParse(json);
  if (!read.success) throw new AgentError('invalid_request');
  const { message, configuration } = read.data;
  if ((configuration?.taskPushNotificationConfig ?? undefined) !== undefined) {
    throw new AgentError('push_notification_not_supported');
  }
  const { inputMediaModes, outputMediaModes } = manifest.contract;
  const parts = message.parts.map((part) => readPart(part, inputMediaModes));
  const session = named(message.contextId) ?? uuid();
  return {
    call: { parts, session },
    outputModes: commonModes(outputMediaModes, configuration),
    taskId: named(message.taskId),
  };
}

/** Accepts text and data parts only: a URL is never fetched (`fileref:insufficient:arbitrary-url`). */
function readPart({ text, data, raw, url, mediaType }: WirePart, modes: readonly string[]): CallPart {
  const members = [text, data, raw, url].filter((member) => member !== undefined);
  if (members.length !== 1) throw new AgentError('invalid_request');
  if (raw !== undefined || url !== undefined) throw new AgentError('content_type_not_supported');
  const standard = text === undefined ? 'application/json' : 'text/plain';
  const mode = named(mediaType) ?? standard;
  if (mode !== standard || !modes.includes(mode)) throw new AgentError('content_type_not_supported');
  return text === undefined ? { kind: 'data', data: data ?? null } : { kind: 'text', text };
}

function commonModes(own: readonly string[], configuration: SendRequest['configuration']): readonly string[] {
  const accepted = configuration?.acceptedOutputModes ?? [];
  const modes = accepted.length === 0 ? own : own.filter((mode) => accepted.includes(mode));
  if (modes.length === 0) throw new AgentError('content_type_not_supported');
  return modes;
}

function named(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
