import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { collectedActivitySchema } from '#contracts/activity';
import { tracedRunListSchema, tracedRunSchema } from '#contracts/agent-runs';
import { approvalsSchema } from '#contracts/approvals';
import { auditChainsSchema, auditPageSchema } from '#contracts/audit';
import { agentPageSchema, agentRecordSchema, foundAgentsSchema } from '#contracts/catalogue';
import { collectedCountsSchema } from '#contracts/decision-counts';
import {
  managedAgentListSchema,
  managedAgentSchema,
  managedFlowSchema,
  versionsWithoutAgentSchema,
} from '#contracts/managed-agents';
import {
  bindingReadSchema,
  operationSchema,
  policyListSchema,
  policySummarySchema,
  revisionListSchema,
} from '#contracts/management';
import { foundMemoriesSchema, memoryHistorySchema, memoryListSchema, memoryRecordSchema } from '#contracts/memory';
import { operationPageSchema } from '#contracts/operations';
import { overviewSchema } from '#contracts/overview';
import { policyCheckResultSchema } from '#contracts/policy-check';
import { collectionSchema, ingestJobSchema, queryResponseSchema } from '#contracts/retrieval';
import { documentListSchema, jobListSchema } from '#contracts/retrieval-documents';
import { type Listening, listen } from '#kit/http/listen';
import { definitionOf } from '../../operator/testing/objects.ts';
import { hostileAnswer } from './hostile-value.ts';

const rights = { view: true, author: true, apply: true, administer: true, policies: [], models: [] };
const policies = '/api/v1/guardrail-policies';

/** Every answer that a page of the console reads, by method and path. The first row that fits is taken. */
const answers: readonly (readonly [request: RegExp, schema: z.ZodType | ((next: () => string) => unknown)])[] = [
  [/^GET \/api\/v1\/overview/, overviewSchema],
  [/^GET \/api\/v1\/decision-counts/, collectedCountsSchema],
  [/^GET \/api\/v1\/activity/, collectedActivitySchema],
  [/^GET \/api\/v1\/audit\/chains/, auditChainsSchema],
  [/^GET \/api\/v1\/audit/, auditPageSchema],
  [/^GET \/api\/v1\/approvals/, approvalsSchema],
  [/^GET \/api\/v1\/operations\//, operationSchema],
  [/^GET \/api\/v1\/operations/, operationPageSchema],
  [new RegExp(`^GET ${policies}/[^/]+/revisions/`), hostilePolicy],
  [new RegExp(`^GET ${policies}/[^/]+/revisions`), revisionListSchema],
  [new RegExp(`^GET ${policies}/`), hostilePolicy],
  [new RegExp(`^GET ${policies}`), policyListSchema],
  [/^GET \/api\/v1\/models\//, bindingReadSchema],
  [/^POST \/api\/v1\/policy-checks/, policyCheckResultSchema],
  [/^GET \/api\/v1\/agents\/[^/]+\/versions\/[^/]+\/flow/, managedFlowSchema],
  // The catalogue and the control plane have the same paths: the console tells them apart by their addresses.
  [/^GET \/catalogue\/api\/v1\/agents\//, agentRecordSchema],
  [/^GET \/catalogue\/api\/v1\/agents/, agentPageSchema],
  [/^POST \/catalogue\/api\/v1\/agents\/search/, foundAgentsSchema],
  [/^GET \/api\/v1\/agents\//, managedAgentSchema],
  [/^GET \/api\/v1\/agents/, managedAgentListSchema],
  [/^GET \/api\/v1\/agent-versions\/without-agent/, versionsWithoutAgentSchema],
  [/^GET \/agents\/[^/]+\/versions\/[^/]+\/runs\//, tracedRunSchema],
  [/^GET \/agents\/.*\/runs/, tracedRunListSchema],
  [/^GET \/v1\/collections\/[^/]+\/documents/, documentListSchema],
  [/^GET \/v1\/collections\//, collectionSchema],
  [/^GET \/v1\/collections/, z.array(collectionSchema)],
  [/^GET \/v1\/jobs\//, ingestJobSchema],
  [/^GET \/v1\/jobs/, jobListSchema],
  [/^POST \/v1\/query/, queryResponseSchema],
  [/^GET \/v1\/memories\/[^/]+\/history/, memoryHistorySchema],
  [/^POST \/v1\/memories\/search/, foundMemoriesSchema],
  [/^GET \/v1\/memories\/[^/?]+$/, memoryRecordSchema],
  [/^GET \/v1\/memories/, memoryListSchema],
];

/** Services whose every free text is hostile. */
export type HostileApis = AsyncDisposable & {
  /** `catalogue` for the catalogue, `other` for every other service. */
  readonly urls: { readonly catalogue: URL; readonly other: URL };
  readonly state: {
    /** The number of the text of the first member of each answer; the next member has the next text. */
    turn: number;
    /** All but the rights of the person are refused with such a text. */
    refuse: boolean;
    /** All but the rights of the person are refused, because the person has sent too many requests. */
    busy: boolean;
    /** All but the rights of the person are refused with this status and code; undefined if they are not. */
    refusal: { readonly status: number; readonly code: string } | undefined;
    /** All but the rights of the person have no answer: the connection ends. */
    away: boolean;
    /** Every list is empty. */
    empty: boolean;
  };
};

/** @param texts after as many turns as there are texts, each member has had each of them */
export async function startHostileApis(texts: readonly string[]): Promise<HostileApis> {
  const state: HostileApis['state'] = {
    ...{ turn: 0, refuse: false, busy: false, empty: false },
    ...{ refusal: undefined, away: false },
  };

  /** Status and body of a request. */
  function answerOf(asked: string, next: () => string): readonly [status: number, body: unknown] {
    if (asked.startsWith('GET /api/v1/own-rights')) return [200, rights];
    const error = { code: next(), message: next(), details: [{ path: next(), message: next() }] };
    if (state.busy) return [429, { error: { ...error, code: 'rate_limited' } }];
    const { refusal } = state;
    if (refusal !== undefined) return [refusal.status, { error: { ...error, code: refusal.code } }];
    if (state.refuse) return [409, { error }];
    const [, schema] = answers.find(([request]) => request.test(asked)) ?? [];
    if (schema === undefined) return [404, { error }];
    return [
      200,
      typeof schema === 'function' ? schema(next) : hostileAnswer(schema, next, state.empty ? 0 : undefined),
    ];
  }

  function answer(prefix: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
    incoming.resume();
    const asked = `${incoming.method} ${prefix}${incoming.url}`;
    if (state.away && !asked.startsWith('GET /api/v1/own-rights')) {
      outgoing.destroy();
      return;
    }
    let used = state.turn;
    const next = (): string => {
      used += 1;
      return texts[(used - 1) % texts.length] ?? '';
    };
    if (/^POST .*\/message:stream$/.test(asked)) {
      stream(outgoing, next);
      return;
    }
    const [status, body] = answerOf(asked, next);
    outgoing.writeHead(status, { 'content-type': 'application/json', etag: '"1"' });
    outgoing.end(JSON.stringify(body));
  }

  await using parts = new AsyncDisposableStack();
  const start = async (prefix: string): Promise<Listening> =>
    parts.use(
      await listen({
        host: '127.0.0.1',
        port: 0,
        headersTimeoutMs: 5_000,
        keepAliveTimeoutMs: 5_000,
        maxHeaderBytes: 65_536,
        handler: (incoming, outgoing) => answer(prefix, incoming, outgoing),
      }),
    );
  const [catalogue, other] = [await start('/catalogue'), await start('')];
  const owned = parts.move();
  return {
    urls: { catalogue: new URL(catalogue.url), other: new URL(other.url) },
    state,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A policy with a list of terms; its definition has rules that no schema says. */
function hostilePolicy(next: () => string): unknown {
  const { request, response, providers } = definitionOf('term');
  const stopList = { terms: [next().slice(0, 128), next().slice(0, 128)], match: 'substring', caseSensitive: true };
  const baseline = request.baseline.map((rule) => ({ ...rule, stopList }));
  const definition = { request: { ...request, baseline }, response, providers };
  return { ...(hostileAnswer(policySummarySchema, next) as object), definition };
}

/** An answer of an agent over A2A: texts, data, and a failure. */
function stream(outgoing: ServerResponse, next: () => string): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (value: unknown) => outgoing.write(`data: ${JSON.stringify(value)}\n\n`);
  event({ task: { id: next(), contextId: next() } });
  event({
    artifactUpdate: { artifact: { parts: [{ text: next() }, { data: { [next()]: next() } }, { text: next() }] } },
  });
  const failure = { code: next(), message: next() };
  event({ statusUpdate: { status: { state: 'TASK_STATE_FAILED', message: { parts: [{ data: failure }] } } } });
  outgoing.end();
}
