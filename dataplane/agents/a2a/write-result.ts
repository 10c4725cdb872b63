import type { CheckedResult } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import type { AgentMessage } from './wire.ts';

/**
 * Step eight: the parts of a checked result in the media types that both the agent and the client support.
 * @throws AgentError output_invalid if no part has a supported media type
 */
export function partsOf({ text, data }: CheckedResult, modes: readonly string[]): AgentMessage['parts'] {
  const parts = [
    ...(text !== undefined && modes.includes('text/plain') ? [{ text, mediaType: 'text/plain' }] : []),
    ...(data !== undefined && modes.includes('application/json') ? [{ data, mediaType: 'application/json' }] : []),
  ];
  if (parts.length === 0) throw new AgentError('output_invalid');
  return parts;
}
