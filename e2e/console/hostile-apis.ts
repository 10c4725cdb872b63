import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { collectedActivitySchema } from '#contracts/activity';
import { tracedRunListSchema, tracedRunSchema } from '#contracts/agent-runs';
import { approvalsSchema } from '#contracts/approvals';
import { auditChainsSchema, auditPageSchema } from '#contracts/audit';
import { agentPageSchema, agentRecordSchema, foundAgentsSchema } from '#contracts/catalogue';
import { collectedCountsSchema } from '#contracts/decision-counts';
import { regexEngine } from '#contracts/local-rules';
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
import {
  deletedMemorySchema,
  erasureSchema,
  foundMemoriesSchema,
  memoryHistorySchema,
  memoryListSchema,
  memoryRecordSchema,
} from '#contracts/memory';
import { operationPageSchema } from '#contracts/operations';
import { overviewSchema } from '#contracts/overview';
import { classifierProfile, definitionSchema } from '#contracts/policy';
import { policyCheckResultSchema } from '#contracts/policy-check';
import { collectionSchema, ingestJobSchema, queryResponseSchema, submittedSchema } from '#contracts/retrieval';
import { documentListSchema, documentSchema, jobListSchema } from '#contracts/retrieval-documents';
import { chainText } from '#flow/testing/flow-text';
import { type Listening, listen } from '#kit/http/listen';
import { definitionOf } from '../../operator/testing/objects.ts';
import { hostileAnswer } from './hostile-value.ts';

const rights = { view: true, author: true, apply: true, administer: true, policies: [], models: [] };
const policies = '/api/v1/guardrail-policies';

/** The input of an answer: the next text, and whether the turn is odd. */
type Answering = (next: () => string, isOdd: boolean) => unknown;

/**
 * Every answer that a page of the console reads, by method and path. The first matching row is used. In an odd turn
 * commands succeed, checks find no problem and flows are valid; in an even turn they fail, with texts.
 */
const answers: readonly (readonly [request: RegExp, schema: z.ZodType | Answering])[] = [
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
  [/^GET \/api\/v1\/resources\/guardrailpolicies/, hostileTests],
  [new RegExp(`^(POST|PUT) ${policies}`), hostileCommand],
  [/^PUT \/api\/v1\/models\/[^/]+\/guardrail-binding/, hostileCommand],
  [/^POST \/api\/v1\/policy-checks/, hostileCheck],
  [/^GET \/api\/v1\/agents\/[^/]+\/versions\/[^/]+\/flow/, hostileFlow],
  // The catalogue and the control plane have the same paths: the console distinguishes them by their addresses.
  [/^GET \/catalogue\/api\/v1\/agents\//, agentRecordSchema],
  [/^GET \/catalogue\/api\/v1\/agents/, agentPageSchema],
  [/^POST \/catalogue\/api\/v1\/agents\/search/, foundAgentsSchema],
  [/^GET \/api\/v1\/agents\//, managedAgentSchema],
  [/^GET \/api\/v1\/agents/, managedAgentListSchema],
  [/^GET \/api\/v1\/agent-versions\/without-agent/, versionsWithoutAgentSchema],
  [/^GET \/agents\/[^/]+\/versions\/[^/]+\/runs\//, tracedRunSchema],
  [/^GET \/agents\/.*\/runs/, tracedRunListSchema],
  [/^GET \/v1\/collections\/[^/]+\/documents\/./, documentSchema],
  [/^GET \/v1\/collections\/[^/]+\/documents/, documentListSchema],
  [/^POST \/v1\/collections\/[^/]+:reindex/, collectionSchema],
  [/^POST \/v1\/documents:submit/, submittedSchema],
  [/^GET \/v1\/collections\//, collectionSchema],
  [/^GET \/v1\/collections/, z.array(collectionSchema)],
  [/^GET \/v1\/jobs\//, ingestJobSchema],
  [/^GET \/v1\/jobs/, jobListSchema],
  [/^POST \/v1\/query/, queryResponseSchema],
  [/^GET \/v1\/memories\/[^/]+\/history/, memoryHistorySchema],
  [/^POST \/v1\/memories\/search/, foundMemoriesSchema],
  [/^(GET|PUT) \/v1\/memories\/[^/?]+$/, memoryRecordSchema],
  [/^DELETE \/v1\/memories\/[^/?]+$/, deletedMemorySchema],
  [/^POST \/v1\/erasures/, erasureSchema],
  [/^GET \/v1\/memories/, memoryListSchema],
];

/** Services whose every free text is hostile. */
export type HostileApis = AsyncDisposable & {
  /** `catalogue` for the catalogue, `other` for every other service. */
  readonly urls: { readonly catalogue: URL; readonly other: URL };
  readonly state: {
    /**
     * The number of the text in the first member of each answer; the next member has the next text. The answers of odd
     * and even turns differ.
     */
    turn: number;
    /** If true, all requests except those for the rights of the person are refused with such a text. */
    refuse: boolean;
    /**
     * Whether all requests except for the rights of the person are refused, because the person has sent too many
     * requests.
     */
    busy: boolean;
    /**
     * All requests except those for the rights of the person are refused with this status and code; undefined if they
     * are not refused.
     */
    refusal: { readonly status: number; readonly code: string } | undefined;
    /** If true, all requests except those for the rights of the person get no answer: the connection ends. */
    away: boolean;
    /** If true, every list in an answer is empty. */
    empty: boolean;
  };
};

/** @param texts after as many turns as there are texts, each member has had every text */
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
      typeof schema === 'function'
        ? schema(next, state.turn % 2 === 1)
        : hostileAnswer(schema, next, state.empty ? 0 : undefined),
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

/**
 * A policy with terms, a replacement, a pattern and an instruction; its definition has rules that no schema requires.
 * The form of ids of rules and of names of providers excludes such texts.
 */
function hostilePolicy(next: () => string): unknown {
  const { request, response } = definitionOf('term');
  const stopList = { terms: [next().slice(0, 128), next().slice(0, 128)], match: 'substring', caseSensitive: true };
  const action = { type: 'mask', replacement: next() };
  const baseline = request.baseline.map((rule) => ({ ...rule, action, stopList }));
  const common = { timeoutMs: 100, mode: 'observe' };
  const regex = { engine: regexEngine, pattern: next(), caseSensitive: true };
  const instruction = { version: next().slice(0, 64), text: next() };
  const additional = [
    { ...common, id: 'r1', kind: 'regex', action: { type: 'mask', replacement: next() }, regex },
    {
      ...{ ...common, id: 'r2', kind: 'llm_classifier', action: { type: 'deny' } },
      llmClassifier: { provider: 'p1', profile: classifierProfile, instruction },
    },
  ];
  const providers = [{ name: 'p1', credentialRef: { name: 'k1' } }];
  const definition = definitionSchema.parse({ request: { ...request, baseline, additional }, response, providers });
  return { ...(hostileAnswer(policySummarySchema, next) as object), definition };
}

/** The tests of a policy, in the form of its resource. */
function hostileTests(next: () => string): unknown {
  const test = () => ({
    ...{ name: next(), stage: 'request', expect: 'Pass' },
    messages: [{ role: 'user', content: next() }],
  });
  return { items: [{ metadata: { name: next() }, spec: { tests: [test(), test(), test()] } }] };
}

function hostileCheck(next: () => string, isOdd: boolean): unknown {
  const result = hostileAnswer(policyCheckResultSchema, next) as object;
  return isOdd ? { ...result, problems: [] } : result;
}

/** A command that has ended. */
function hostileCommand(next: () => string, isOdd: boolean): unknown {
  const operation = hostileAnswer(operationSchema, next) as object;
  const error = { code: 'provider_unknown', message: next(), cause: next(), traceId: next() };
  const ended = isOdd ? { state: 'succeeded', error: null } : { state: 'failed', error };
  return operationSchema.parse({ ...operation, ...ended });
}

/** A flow whose nodes have such descriptions and texts; the form of their ids excludes them. */
function hostileFlow(next: () => string, isOdd: boolean): unknown {
  if (!isOdd) return hostileAnswer(managedFlowSchema, next);
  const nodes = ['greet', 'again'].map((id) => ({
    ...{ id, kind: 'template', description: next() },
    config: { text: next().replaceAll('{{', '{ {') },
  }));
  const title = JSON.stringify(next().slice(0, 120));
  const flow = chainText(nodes).replace('name: greeting', () => `name: greeting, title: ${title}`);
  return { name: next(), flow, subflows: [] };
}

/** A text that the artifact of an answer no longer has. */
export const replacedText = 'a text that was replaced';

/** An answer of an agent over A2A: texts, data, an artifact that begins again, a file, and a failure. */
function stream(outgoing: ServerResponse, next: () => string): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (value: unknown) => outgoing.write(`data: ${JSON.stringify(value)}\n\n`);
  event({ task: { id: next(), contextId: next() } });
  event({
    artifactUpdate: { artifact: { parts: [{ text: next() }, { data: { [next()]: next() } }, { text: next() }] } },
  });
  const artifactId = next();
  event({ artifactUpdate: { artifact: { artifactId, parts: [{ text: replacedText }] }, append: false } });
  event({ artifactUpdate: { artifact: { artifactId, parts: [{ text: next() }, { raw: '', filename: next() }] } } });
  event({ artifactUpdate: { artifact: { artifactId, parts: [{ text: next() }] }, append: true } });
  const failure = { code: next(), message: next() };
  event({ statusUpdate: { status: { state: 'TASK_STATE_FAILED', message: { parts: [{ data: failure }] } } } });
  outgoing.end();
}
