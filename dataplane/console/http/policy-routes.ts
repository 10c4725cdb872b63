import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { z } from 'zod';
import { type PolicyDetail, policyDetailSchema, policyListSchema, revisionListSchema } from '#contracts/management';
import type { Overview } from '#contracts/overview';
import type { ApiAnswer } from '../clients/call-api.ts';
import { runPolicyCommand } from '../clients/commands.ts';
import { isMissing, isPassing } from '../clients/is-passing.ts';
import { noRights } from '../clients/management-api.ts';
import { readPolicyForm } from '../clients/policy-form.ts';
import { readPolicySource, readRecipes, writePolicySource } from '../clients/policy-source.ts';
import { failureNotice, notice, refusalNotice } from '../pages/notice.ts';
import type { Markup } from '../pages/page.ts';
import { linksOf } from '../pages/page-links.ts';
import { policiesPage, policyPage } from '../pages/policies.ts';
import { diffTable, policyDiffPage } from '../pages/policy-diff.ts';
import { policyEditorPage } from '../pages/policy-editor.ts';
import { saidText } from '../pages/said-text.ts';
import { sessionRights } from '../sessions/session.ts';
import type { Words } from '../words/en.ts';
import { answerPage, answerRefusal } from './answer-page.ts';
import { applyPolicy } from './apply-policy.ts';
import type { ConsoleContext, ConsoleEnvironment } from './environment.ts';
import { keptKey } from './kept-key.ts';
import { readEdited } from './read-edited.ts';
import { readForm } from './read-form.ts';
import { refuseWithout } from './refuse-without.ts';
import { withMissing } from './with-missing.ts';

const policiesPath = '/api/v1/guardrail-policies';
const idForm = ':id{[0-9a-fA-F-]{36}}';
/** Policies on a page that reads each of them. */
const ownPageSize = 20;

/** Policies: list, history, comparison, editor, and the application to a model. */
export function addPolicyRoutes(app: Hono<ConsoleEnvironment>): void {
  const recipes = readRecipes();
  app.get('/policies', showPolicies);
  app.get('/policies/new', async (context) => {
    const { create } = context.get('page').words.policyPages;
    const refusal = await refuseWithout(context, create, ({ author }) => author);
    if (refusal !== undefined) return refusal;
    const chosen = context.req.query('recipe') ?? 'secrets';
    const source = recipes.get(chosen) ?? '';
    const form = context.req.query('as') === 'form' ? readPolicyForm(source) : undefined;
    const names = [...recipes.keys()];
    const editor = { id: undefined, source, form, etag: '', status: 'draft', recipes: names, problem: undefined };
    return answerPage(context, policyEditorPage(context.get('page'), editor));
  });
  app.post('/policies', (context) => save(context, undefined));
  app.get(`/policies/${idForm}`, showPolicy);
  app.post(`/policies/${idForm}`, (context) => save(context, context.req.param('id')));
  app.get(`/policies/${idForm}/edit`, showEditor);
  app.get(`/policies/${idForm}/diff`, showDiff);
  app.post(`/policies/${idForm}/apply`, applyPolicy);
}

async function showPolicies(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const api = context.get('management');
  const cursor = context.req.query('cursor');
  const query = cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`;
  const own = await ownPolicies(context, cursor);
  const [list, overview] = await Promise.all([
    own ?? api.call(`${policiesPath}${query}`, policyListSchema),
    overviewOf(context),
  ]);
  if (list.kind !== 'value') return answerRefusal(context, page.words.policies, list);
  const links = linksOf('/policies', { parameter: 'cursor', at: cursor, next: list.value.nextCursor });
  const shown = policiesPage(page, list.value.items, shownOf(overview), links);
  return answerPage(context, withMissing(page.words, shown, [[page.words.policyPages.usedBy, overview]]));
}

/** The models that use policies, and the policies being deleted; undefined without the right to them. */
async function overviewOf(context: ConsoleContext): Promise<ApiAnswer<Overview> | undefined> {
  const api = context.get('management');
  const held = await api.ownRights();
  const { rights } = context.get('session');
  const { view, readsModels, readsPolicies } = held.kind === 'value' ? sessionRights(held.value) : rights;
  // The API records a read without the right as a refusal.
  return view || readsModels || readsPolicies ? await api.overview() : undefined;
}

/**
 * One page of policies for a person who may read only some of them, the newest first. The API has no such list.
 * @param after the id that precedes the first policy of the page; undefined for the first page
 * @returns undefined for a person who may read all policies, or none: the API answers with its list, or a refusal
 */
async function ownPolicies(
  context: ConsoleContext,
  after: string | undefined,
): Promise<ApiAnswer<z.infer<typeof policyListSchema>> | undefined> {
  const api = context.get('management');
  const held = await api.ownRights();
  if (held.kind !== 'value' || held.value.view || held.value.viewedPolicies.length === 0) return undefined;
  // Ids of policies are in the order of their creation.
  const ids = held.value.viewedPolicies.toSorted().toReversed();
  const left = after === undefined ? ids : ids.filter((id) => id < after);
  const shown = left.slice(0, ownPageSize);
  const answers = await Promise.all(shown.map((id) => api.call(`${policiesPath}/${id}`, policyDetailSchema)));
  const passing = answers.find(isPassing);
  if (passing !== undefined && passing.kind !== 'value') return passing;
  const items = answers.flatMap((answer) => (answer.kind === 'value' ? [answer.value] : []));
  const nextCursor = left.length > shown.length ? (shown.at(-1) ?? null) : null;
  return { kind: 'value', value: { items, nextCursor }, etag: undefined };
}

async function showPolicy(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const api = context.get('management');
  const id = context.req.param('id') ?? '';
  const path = `${policiesPath}/${id}`;
  const before = context.req.query('before');
  const older = before === undefined ? '' : `&beforeRevision=${encodeURIComponent(before)}`;
  const [policy, revisions, overview, held] = await Promise.all([
    api.call(path, policyDetailSchema),
    api.call(`${path}/revisions?limit=50${older}`, revisionListSchema),
    overviewOf(context),
    api.ownRights(),
  ]);
  if (policy.kind !== 'value') return answerRefusal(context, page.words.policies, policy);
  if (revisions.kind !== 'value') return answerRefusal(context, page.words.policies, revisions);
  const rights = held.kind === 'value' ? held.value : noRights;
  const { items, nextBeforeRevision: next } = revisions.value;
  const links = linksOf(`/policies/${id}`, { parameter: 'before', at: before, next });
  const shown = policyPage(page, policy.value, items, {
    ...shownOf(overview),
    isStateKnown: isKnown(overview),
    rights,
    links,
  });
  const { policyPages: own, errors } = page.words;
  const parts = [
    [own.usedBy, overview],
    [own.edit, overview],
    [own.applyTo, overview],
    [errors.rights, held],
  ] as const;
  return answerPage(context, withMissing(page.words, shown, parts));
}

/**
 * A page is shown even if the overview is missing, and says so: the API refuses commands that the page would not have
 * offered.
 */
function shownOf(overview: ApiAnswer<Overview> | undefined): Pick<Overview, 'models' | 'deletingPolicies'> {
  return overview?.kind === 'value' ? overview.value : { models: [], deletingPolicies: [] };
}

/** Whether the deletion of a policy would be known. Without the right to read it, the API decides alone. */
function isKnown(overview: ApiAnswer<Overview> | undefined): boolean {
  return overview === undefined || !isMissing(overview);
}

/**
 * Why a policy cannot be edited; undefined for one that can be. A save would cancel its deletion (docs/decisions/0031), which a person
 * does on purpose only.
 */
async function refuseDeleting(
  context: ConsoleContext,
  id: string,
): Promise<{ readonly problem: Markup | Promise<Markup>; readonly status: 409 | 503 } | undefined> {
  const overview = await overviewOf(context);
  if (overview === undefined) return undefined;
  const { words } = context.get('page');
  const { deleting: title, deletingText: text } = words.policyPages;
  if (overview.kind !== 'value')
    return isMissing(overview) ? { problem: refusalNotice(words, overview), status: 503 } : undefined;
  if (!overview.value.deletingPolicies.includes(id)) return undefined;
  const link = { href: `/policies/${id}`, label: words.conflicts.backToPolicy };
  return { problem: notice({ kind: 'error', title, text, link }), status: 409 };
}

async function showEditor(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const id = context.req.param('id') ?? '';
  const { edit } = page.words.policyPages;
  const refusal = await refuseWithout(context, edit, ({ author, policies }) => author || policies.includes(id));
  if (refusal !== undefined) return refusal;
  const kept = await refuseDeleting(context, id);
  if (kept !== undefined) return answerPage(context, { title: edit, main: html`${kept.problem}` }, kept.status);
  const policy = await context.get('management').call(`${policiesPath}/${id}`, policyDetailSchema);
  if (policy.kind !== 'value') return answerRefusal(context, edit, policy);
  const { status } = policy.value;
  const source = writePolicySource(policy.value);
  const form = context.req.query('as') === 'form' ? readPolicyForm(source) : undefined;
  const editor = { id, source, form, etag: policy.etag ?? '', status, recipes: [], problem: undefined };
  return answerPage(context, policyEditorPage(page, editor));
}

async function showDiff(context: ConsoleContext): Promise<Response> {
  const page = context.get('page');
  const api = context.get('management');
  const id = context.req.param('id') ?? '';
  const [from, to] = [Number(context.req.query('from')), Number(context.req.query('to'))];
  const read = (revision: number) => api.call(`${policiesPath}/${id}/revisions/${revision}`, policyDetailSchema);
  const [before, after] = await Promise.all([read(from), read(to)]);
  if (before.kind !== 'value') return answerRefusal(context, page.words.policies, before);
  if (after.kind !== 'value') return answerRefusal(context, page.words.policies, after);
  const texts = { before: writePolicySource(before.value), after: writePolicySource(after.value) };
  return answerPage(context, policyDiffPage(page, { id, name: after.value.name, from, to, ...texts }));
}

/**
 * Saves the editor; if it cannot be saved, the input is shown again with the problem. If another version was saved
 * meanwhile, it is shown next to the input.
 */
async function save(context: ConsoleContext, id: string | undefined): Promise<Response> {
  const page = context.get('page');
  const { policyPages: own } = page.words;
  const sent = await readForm(context);
  const { etag = '', status = 'draft' } = sent;
  const key = keptKey(sent);
  const { source, form } = await readEdited(context);
  const editor = { id, source, form, etag, status, recipes: [] };
  const read = readPolicySource(source);
  if (!read.ok) {
    const problem = notice({ kind: 'error', title: own.invalid, text: saidText(page.words, read.problems.join('; ')) });
    return answerPage(context, policyEditorPage(page, { ...editor, problem }), 422);
  }
  const kept = id === undefined ? undefined : await refuseDeleting(context, id);
  if (kept !== undefined)
    return answerPage(context, policyEditorPage(page, { ...editor, key, problem: kept.problem }), kept.status);
  const answer =
    id === undefined
      ? await runPolicyCommand(context.get('management'), policiesPath, { method: 'POST', body: read.value, key })
      : await runPolicyCommand(context.get('management'), `${policiesPath}/${id}`, {
          method: 'PUT',
          body: { ...read.value, status },
          etag,
          key,
        });
  if (id !== undefined && answer.kind === 'refused' && answer.code === 'etag_mismatch') {
    const newest = await context.get('management').call(`${policiesPath}/${id}`, policyDetailSchema);
    if (newest.kind === 'value') {
      const conflict = conflictOf(page.words, { newest: newest.value, own: read.value });
      const { status: present } = newest.value;
      const shown = { ...editor, ...conflict, etag: newest.etag ?? '', status: present };
      return answerPage(context, policyEditorPage(page, shown), 409);
    }
  }
  if (answer.kind !== 'value') {
    // The API may have accepted a command whose answer was lost: the same key executes it once.
    const again = isMissing(answer) ? { key } : {};
    const problem = refusalNotice(page.words, answer);
    return answerPage(context, policyEditorPage(page, { ...editor, ...again, problem }), 422);
  }
  const { error, target, state, operationId } = answer.value;
  if (error !== null) {
    const problem = failureNotice(page.words, { title: own.failedCommand, ...error });
    return answerPage(context, policyEditorPage(page, { ...editor, problem }), 422);
  }
  // A new policy has no page before its first revision is recorded.
  return context.redirect(state === 'succeeded' ? `/policies/${target.id}` : `/operations/${operationId}`, 303);
}

/**
 * Shows the revision that another person saved meanwhile next to the definition of this person, which can be saved as its
 * successor.
 */
function conflictOf(
  words: Words,
  { newest, own }: { readonly newest: PolicyDetail; readonly own: Parameters<typeof writePolicySource>[0] },
) {
  const { conflicts } = words;
  const title = conflicts.policy(newest.revision);
  const before = { title: `${words.revision} ${newest.revision}`, text: writePolicySource(newest) };
  const after = { title: conflicts.yours, text: writePolicySource(own) };
  const compared = diffTable({ label: title, before, after, same: conflicts.sameAsYours });
  const problem = html`${notice({ kind: 'error', title, text: conflicts.policyText })}${compared}`;
  return { problem, onTopOf: newest.revision };
}
