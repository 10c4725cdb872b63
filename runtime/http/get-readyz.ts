import { sendError, sendText, traceIdOf } from './error-answer.ts';
import type { Operation } from './runtime-service.ts';

const ready = JSON.stringify({ status: 'ready' });

/** GET /readyz: 200 when the immutable bundle is loaded, else 503 (document 1, section 4.4). */
export const getReadyz: Operation = {
  path: '/readyz',
  methods: ['GET', 'HEAD'],
  answer({ incoming, outgoing }, service) {
    if (service.served() !== undefined) return sendText(outgoing, 200, ready);
    sendError(outgoing, 'policy_unavailable', { traceId: traceIdOf(incoming.headers['traceparent']) });
  },
};
