import { html } from 'hono/html';
import type { PolicySummary } from '#contracts/management';
import type { Overview } from '#contracts/overview';
import type { OwnRights } from '#contracts/rights';
import type { Words } from '../words/en.ts';
import { applySection } from './apply-form.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { type PageLinks, pageLinks } from './page-links.ts';
import { timeOf } from './time.ts';

/** The part of the overview about policies; empty if the overview is not available. */
type PolicySurroundings = Pick<Overview, 'models' | 'deletingPolicies'>;
/** With whether a deletion would be known, the rights of the person, by which its page offers changes, and the ways to other pages of its history. */
type JudgedSurroundings = PolicySurroundings & {
  readonly isStateKnown: boolean;
  readonly rights: OwnRights;
  readonly links: PageLinks;
};

/** The page with all policies. */
export function policiesPage(
  { words, language, session }: PageContext,
  items: readonly PolicySummary[],
  { models, deletingPolicies }: PolicySurroundings,
  links: PageLinks,
): ConsolePage {
  const { policyPages: own } = words;
  const row = ({ id, name, status, revision, ruleCount, updatedAt, description }: PolicySummary) =>
    html`<tr><th scope="row"><a href="/policies/${id}">${name}</a><span class="sub">${description}</span></th>
<td>${statusBadge(words, status, deletingPolicies.includes(id))}</td><td class="number">${revision}</td><td class="number">${ruleCount}</td>
<td>${models.filter(({ policyId }) => policyId === id).map(({ alias, wanted }) => html`<span class="sub">${alias} (${words.revision} ${wanted?.revision ?? ''})</span>`)}</td>
<td>${timeOf(language, updatedAt)}</td></tr>`;
  return {
    title: words.policies,
    main: html`${session?.rights.author === true ? html`<p><a class="button" href="/policies/new">${own.create}</a></p>` : ''}
${
  items.length === 0
    ? notice({ kind: 'empty', title: own.none, text: session?.rights.author === true ? own.noneText : own.noneAsk })
    : html`<table><thead><tr><th scope="col">${own.name}</th><th scope="col">${own.status}</th><th scope="col" class="number">${words.revision}</th><th scope="col" class="number">${own.rules}</th><th scope="col">${own.usedBy}</th><th scope="col">${own.updated}</th></tr></thead><tbody>${items.map(row)}</tbody></table>`
}
${pageLinks(words, links)}`,
  };
}

function statusBadge(words: Words, status: PolicySummary['status'], isDeleting: boolean): Markup | Promise<Markup> {
  const { policyPages: own } = words;
  if (isDeleting) return badge('warn', own.deleting);
  return status === 'archived' ? badge('off', own.archived) : badge('good', own.draft);
}

/**
 * The page of one policy: its history and, unless the policy is being deleted, a form that applies one version to a
 * model.
 */
export function policyPage(
  { words, language, session }: PageContext,
  policy: PolicySummary,
  revisions: readonly PolicySummary[],
  { models, deletingPolicies, isStateKnown, rights, links }: JudgedSurroundings,
): ConsolePage {
  const { policyPages: own } = words;
  const { id, name, description, status, revision } = policy;
  const row = (one: PolicySummary) =>
    html`<tr><td class="number">${one.revision}</td><td class="number">${one.ruleCount}</td><td>${one.ruleKinds.map((kind) => kindName(words, kind)).join(', ')}</td><td>${timeOf(language, one.createdAt)}</td><td class="mono">${one.definitionDigest.slice(0, 12)}</td>
<td>${one.revision === 1 ? '' : html`<a href="/policies/${id}/diff?from=${one.revision - 1}&to=${one.revision}">${own.compare}</a>`}</td></tr>`;
  const using = models.filter(({ policyId }) => policyId === id);
  const isDeleting = deletingPolicies.includes(id);
  const mayWrite = isStateKnown && (rights.author || rights.policies.includes(id));
  const mayCheck = rights.author || rights.policies.length > 0;
  const isArchived = status === 'archived';
  const open = models.filter(
    ({ modelId, state }) =>
      modelId !== null && state !== 'deleting' && (rights.apply || rights.models.includes(modelId)),
  );
  const edit = html`<p>${mayWrite ? html`<a class="button plain" href="/policies/${id}/edit">${own.edit}</a>` : ''} ${mayCheck ? html`<a class="button plain" href="/playground?policy=${id}&revision=${revision}">${words.playground}</a>` : ''}</p>`;
  const apply = applySection(words, { policyId: id, revisions, isArchived, open, csrf: session?.csrf ?? '' });
  return {
    title: name,
    main: html`<p>${description}</p>
<p>${statusBadge(words, status, isDeleting)} ${using.map(({ alias, wanted }) => badge('good', `${alias}: ${words.revision} ${wanted?.revision ?? ''}`, { isNamed: true }))}</p>
${isDeleting ? notice({ kind: 'error', title: own.deleting, text: own.deletingText }) : html`${isArchived ? notice({ kind: 'empty', title: own.archived, text: own.archivedText }) : ''}${edit}${open.length === 0 ? '' : apply}`}
<section aria-labelledby="history"><h2 id="history">${own.history}</h2>
<table><thead><tr><th scope="col" class="number">${words.revision}</th><th scope="col" class="number">${own.rules}</th><th scope="col">${own.kinds}</th><th scope="col">${own.updated}</th><th scope="col">SHA-256</th><th scope="col"><span class="hidden">${own.compare}</span></th></tr></thead><tbody>${revisions.map(row)}</tbody></table>${pageLinks(words, links)}
<p><a href="/operations?targetId=${id}">${words.operationPages.ofPolicy}</a></p></section>
${mayCheck && rights.view ? html`<section aria-labelledby="tests"><h2 id="tests">${own.tests}</h2><div hx-get="/policies/${id}/tests" hx-trigger="load"><p class="quiet">…</p></div></section>` : ''}`,
  };
}

function kindName({ formPages }: Words, kind: string): string {
  const kinds: Readonly<Record<string, string>> = formPages.kinds;
  return kinds[kind] ?? kind;
}
