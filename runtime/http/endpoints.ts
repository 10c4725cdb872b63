import { readFileSync } from 'node:fs';
import { traceIdOf } from '#kit/http/trace-context';
import { answerCheck } from './answer-check.ts';
import { sendError, sendText } from './error-answer.ts';
import { getDocs } from './get-docs.ts';
import { readCheckHeaders, serviceToken } from './header-gates.ts';
import type { Endpoint } from './runtime-service.ts';

/** POST /request judges messages by the request section of the selected policy, POST /response answer variants. */
export const checkEndpoints: readonly Endpoint[] = (['request', 'response'] as const).map((stage) => ({
  path: `/${stage}`,
  methods: ['POST'],
  answer: (exchange, service) => answerCheck(stage, exchange, service),
}));

/** GET /readyz: 200 when the immutable bundle is loaded, else 503 (`guardrail:readyz:*`). */
const getReadyz: Endpoint = {
  path: '/readyz',
  methods: ['GET', 'HEAD'],
  answer({ incoming, outgoing }, service) {
    if (service.served() !== undefined) return sendText(outgoing, 200, '{"status":"ready"}');
    sendError(outgoing, 'policy_unavailable', { traceId: traceIdOf(incoming.headers['traceparent']) });
  },
};

/** GET /metrics: the counters of this process in text format, for holders of the service token. */
const getMetrics: Endpoint = {
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

/** The frozen interface description, byte for byte as stored next to this file (`guardrail:versioning:openapi-3-1`). */
const openapi = readFileSync(new URL('./openapi.json', import.meta.url), 'utf8');

/** GET /openapi.json: the same document whatever bundle is loaded; needs no token at present. */
const getOpenapi: Endpoint = {
  path: '/openapi.json',
  methods: ['GET', 'HEAD'],
  answer: ({ outgoing }) => sendText(outgoing, 200, openapi),
};

/** All endpoints of the interface (`guardrail:endpoints:*`). */
export const endpoints: readonly Endpoint[] = [...checkEndpoints, getReadyz, getMetrics, getOpenapi, getDocs];
