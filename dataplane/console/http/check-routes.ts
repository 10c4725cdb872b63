import type { Hono } from 'hono';
import { z } from 'zod';
import { type PolicySummary, policyDetailSchema, policyListSchema } from '#contracts/management';
import { type PolicyCheckResult, policyCheckResultSchema } from '#contracts/policy-check';
import type { OwnRights } from '#contracts/rights';
import type { ApiAnswer } from '../clients/call-api.ts';
import { isPassing } from '../clients/is-passing.ts';
import type { ManagementApi } from '../clients/management-api.ts';
import { readPolicySource } from '../clients/policy-source.ts';
import { refusalNotice } from '../pages/notice.ts';
import type { Markup } from '../pages/page.ts';
import {
  messageFields,
  mostMessages,
  playgroundOutcome,
  playgroundPage,
  refusedRevision,
  revisionField,
} from '../pages/playground.ts';
import { sourceCheck, testTable } from '../pages/policy-editor.ts';
import { answerPage, answerPart, answerRefusal } from './answer-page.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { readEdited } from './read-edited.ts';
import { readForm, readRepeated } from './read-form.ts';
import { refuseWithout } from './refuse-without.ts';

const policiesPath = '/api/v1/guardrail-policies';
/** Policies of the choice of the playground. */
const mostOffered = 50;

/** The tests of a policy, as they are in its resource; the contract of the API does not contain them. */
const testedSchema = z.object({
  items: z.array(
    z.object({
      spec: z.object({
        tests: z
          .array(
            z.object({
              name: z.string(),
              stage: z.enum(['request', 'response']),
              messages: z.array(z.object({ role: z.string(), content: z.string() })),
              expect: z.enum(['Pass', 'Reject', 'Mask']),
            }),
          )
          .optional(),
      }),
    }),
  ),
});

/** Adds the checks of definitions and texts: they return parts of pages and store nothing. */
export function addCheckRoutes(app: Hono<ConsoleEnvironment>): void {
  app.post('/policies/check', checkSource);
  app.get('/policies/:id{[0-9a-fA-F-]{36}}/tests', runTests);
  app.get('/playground', showPlayground);
  app.get('/playground/revision', newestRevision);
  app.get('/playground/message', addMessage);
  app.post('/playground/check', checkMessages);
}

function check(api: ManagementApi, body: unknown): Promise<ApiAnswer<PolicyCheckResult>> {
  return api.call('/api/v1/policy-checks', policyCheckResultSchema, { method: 'POST', body, timeoutMs: 45_000 });
}

async function checkSource(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const read = readPolicySource((await readEdited(context)).source);
  if (!read.ok) return context.html(await sourceCheck(words, { problems: read.problems, warnings: [] }));
  const answer = await check(context.get('management'), { definition: read.value.definition, checks: [] });
  return context.html(
    await (answer.kind === 'value' ? sourceCheck(words, answer.value) : refusalNotice(words, answer)),
  );
}

async function runTests(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const api = context.get('management');
  const id = context.req.param('id') ?? '';
  const selector = encodeURIComponent(`portcullis.dev/id=${id}`);
  const [policy, resource] = await Promise.all([
    api.call(`${policiesPath}/${id}`, policyDetailSchema),
    api.call(`/api/v1/resources/guardrailpolicies?labelSelector=${selector}`, testedSchema),
  ]);
  if (policy.kind !== 'value') return context.html(await refusalNotice(words, policy));
  if (resource.kind !== 'value') return context.html(await refusalNotice(words, resource));
  const tests = resource.value.items[0]?.spec.tests ?? [];
  const checks = tests.map(({ name, stage, messages }) => ({ name, stage, messages }));
  const answer = await check(api, { definition: policy.value.definition, checks });
  if (answer.kind !== 'value') return context.html(await refusalNotice(words, answer));
  if (answer.value.problems.length > 0) return context.html(await sourceCheck(words, answer.value));
  const outcomes = tests.map(({ name, expect }, at) => {
    const { decision = 'Failed', rules = [] } = answer.value.results[at] ?? {};
    return { name, expected: expect, decision, rules };
  });
  return context.html(await testTable(words, outcomes));
}

async function showPlayground(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const mayCheck = ({ author, policies }: OwnRights): boolean => author || policies.length > 0;
  const refusal = await refuseWithout(context, page.words.playground, mayCheck);
  if (refusal !== undefined) return refusal;
  const list = await offeredPolicies(context);
  if (list.kind !== 'value') return answerRefusal(context, page.words.playground, list);
  const { items, nextCursor } = list.value;
  const policy = context.req.query('policy') ?? items[0]?.id ?? '';
  const other = items.some(({ id }) => id === policy) || policy === '' ? undefined : await policyOf(context, policy);
  if (other !== undefined && other.kind !== 'value' && isPassing(other))
    return answerRefusal(context, page.words.playground, other);
  const policies = [...(other?.kind === 'value' ? [other.value] : []), ...items];
  const newest = policies.find(({ id }) => id === policy)?.revision ?? 1;
  const revision = context.req.query('revision') ?? String(newest);
  const hasMore = nextCursor !== null;
  // Another policy has other revisions: none is chosen in place of one that cannot be read.
  const choice = other?.kind === 'refused' ? { policy: '', revision: '' } : { policy, revision };
  const problem = other?.kind === 'refused' ? refusalNotice(page.words, other) : undefined;
  return answerPage(context, playgroundPage(page, { policies, ...choice, hasMore, problem }));
}

/** The newest policies; for a person without the right to view all policies, those of which the person is an author. */
async function offeredPolicies(context: ConsoleContext): Promise<ApiAnswer<z.infer<typeof policyListSchema>>> {
  const api = context.get('management');
  const held = await api.ownRights();
  if (held.kind !== 'value' || held.value.view)
    return api.call(`${policiesPath}?limit=${mostOffered}`, policyListSchema);
  // Ids of policies are in the order of their creation.
  const policies = held.value.policies.toSorted().toReversed();
  const found = await Promise.all(policies.slice(0, mostOffered).map((id) => policyOf(context, id)));
  const passing = found.find(isPassing);
  if (passing !== undefined && passing.kind !== 'value') return passing;
  const items = found.flatMap((one) => (one.kind === 'value' ? [one.value] : []));
  return { kind: 'value', value: { items, nextCursor: policies[mostOffered] ?? null }, etag: undefined };
}

function policyOf(context: ConsoleContext, id: string): Promise<ApiAnswer<PolicySummary>> {
  return context.get('management').call(`${policiesPath}/${encodeURIComponent(id)}`, policyDetailSchema);
}

/** The field of the revision, filled with the newest revision of a policy, for a person who chooses another policy. */
async function newestRevision(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const path = `${policiesPath}/${encodeURIComponent(context.req.query('policy') ?? '')}`;
  const found = await context.get('management').call(path, policyDetailSchema);
  if (found.kind === 'value') {
    const { id: policy, revision } = found.value;
    return context.html(await revisionField(words, { policy, revision: String(revision) }));
  }
  return context.html(await refusedRevision(words, await refusalNotice(words, found)));
}

/** The fields of one more message: the request names the roles of the messages that the page already has. */
async function addMessage(context: ConsoleContext): Promise<Response> {
  const { words } = context.get('page');
  const number = (context.req.queries('role') ?? []).length + 1;
  return context.html(number > mostMessages ? '' : await messageFields(words, number));
}

async function checkMessages(context: ConsoleContext): Promise<Response> {
  const title = context.get('page').words.playground;
  const part = await outcomeOf(context);
  return answerPart(context, { title, part, link: { href: '/playground', label: title } });
}

async function outcomeOf(context: ConsoleContext): Promise<Markup> {
  const { words } = context.get('page');
  const api = context.get('management');
  const { policy = '', revision = '', stage: asked } = await readForm(context);
  const stage = asked === 'response' ? 'response' : 'request';
  const path = `${policiesPath}/${encodeURIComponent(policy)}/revisions/${encodeURIComponent(revision)}`;
  const found = await api.call(path, policyDetailSchema);
  if (found.kind !== 'value') return refusalNotice(words, found);
  const messages = await readMessages(context, stage);
  const { definition, name } = found.value;
  const answer = await check(api, { definition, checks: [{ name: 'messages', stage, messages }], marks: true });
  if (answer.kind !== 'value') return refusalNotice(words, answer);
  const [result] = answer.value.results;
  if (result === undefined) return sourceCheck(words, answer.value);
  return playgroundOutcome(words, { policy: { name, revision }, messages, stage, result });
}

/**
 * The messages that have a text; if no message has one, a single empty message. The role of an answer is always that of
 * the model, whatever role was chosen.
 */
async function readMessages(context: ConsoleContext, stage: 'request' | 'response') {
  const [chosen, texts] = await Promise.all([readRepeated(context, 'role'), readRepeated(context, 'text')]);
  const all = texts.map((content, at) => ({
    role: stage === 'response' ? 'assistant' : (chosen[at] ?? 'user'),
    content,
  }));
  const filled = all.filter(({ content }) => content !== '');
  return filled.length > 0 ? filled : all.slice(0, 1);
}
