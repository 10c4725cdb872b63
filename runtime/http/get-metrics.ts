import { traceIdOf } from '#kit/http/trace-context';
import { sendError, sendText } from './error-answer.ts';
import { readCheckHeaders, serviceToken } from './header-gates.ts';
import type { Endpoint } from './runtime-service.ts';

/** GET /metrics: the counters of this process in text format, for holders of the service token. */
export const getMetrics: Endpoint = {
  path: '/metrics',
  methods: ['GET', 'HEAD'],
  async answer({ incoming, outgoing }, service) {
    const acceptsToken = (token: string): boolean => service.tokens.accepts(token);
    const refusal = serviceToken({ headers: readCheckHeaders(incoming.rawHeaders), acceptsToken });
    if (refusal !== undefined) {
      return sendError(outgoing, refusal, { traceId: traceIdOf(incoming.headers['traceparent']) });
    }
    const text = await service.metrics.exposition();
    sendText(outgoing, 200, text, { 'content-type': service.metrics.contentType });
  },
};
