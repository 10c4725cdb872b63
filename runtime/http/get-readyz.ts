import { traceIdOf } from '#kit/http/trace-context';
import { sendError, sendText } from './error-answer.ts';
import type { Endpoint } from './runtime-service.ts';

const ready = JSON.stringify({ status: 'ready' });

/** GET /readyz: 200 when the immutable bundle is loaded, else 503 (`guardrail:readyz:*`). */
export const getReadyz: Endpoint = {
  path: '/readyz',
  methods: ['GET', 'HEAD'],
  answer({ incoming, outgoing }, service) {
    if (service.served() !== undefined) return sendText(outgoing, 200, ready);
    sendError(outgoing, 'policy_unavailable', { traceId: traceIdOf(incoming.headers['traceparent']) });
  },
};
