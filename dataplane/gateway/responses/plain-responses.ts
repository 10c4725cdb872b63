import type { StreamForm } from '../stream/plain-stream.ts';
import { responseStreamBounds } from './response-guard.ts';

const lastEvents: readonly unknown[] = ['response.completed', 'response.incomplete'];
const failedEvents: readonly unknown[] = ['error', 'response.failed'];
const eventName = /^[a-z][a-z0-9_.]{0,79}$/;

/** Streams of the Responses API consist of named events; the last event has the whole answer. */
export const responsesStreamForm: StreamForm = {
  eventBytes: responseStreamBounds.eventBytes,
  hasDone: false,
  hasForm: false,
  read: (value, name) => {
    const isEvent = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isEvent || (name !== '' && (value['type'] !== name || !eventName.test(name))))
      return { kind: 'fault', fault: 'invalid' };
    const { type, error = null } = value;
    if (failedEvents.includes(type) || error !== null) return { kind: 'fault', fault: 'failed' };
    return { kind: lastEvents.includes(type) ? 'last' : 'frame' };
  },
};
