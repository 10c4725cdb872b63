import { html } from 'hono/html';
import type { Approval } from '#contracts/approvals';
import { type AuditAuthor, auditAuthorName } from '#contracts/audit';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { timeOf } from './time.ts';

/** An approval with the actions that the person may take. */
export type ShownApproval = {
  readonly approval: Approval;
  /** The name of the policy or the alias of the model; its id if the person may not read it. */
  readonly target: string;
  /** The policy that the command requests; null for an unbind. */
  readonly policy: { readonly id: string; readonly name: string; readonly isReadable: boolean } | null;
  /** Whether the person, or an agent that acts for the person, sent the command. */
  readonly isOwn: boolean;
  /** Whether the person has the right that the command needs. */
  readonly mayCarryOut: boolean;
};

/** Commands that wait for a second person, in the columns of `portcullis approval list`. */
export function approvalsPage(page: PageContext, shown: readonly ShownApproval[]): ConsolePage {
  const { words } = page;
  const { approvalPages: own, operationPages } = words;
  const head = [operationPages.command, operationPages.object, own.version, own.askedBy, own.expires, own.approval];
  const table = html`<table><thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead><tbody>${shown.map((one) => row(page, one))}</tbody></table>`;
  const none = notice({ kind: 'empty', title: own.none, text: own.noneText });
  return { title: own.title, main: html`<p class="hint">${own.intro}</p>${shown.length === 0 ? none : table}` };
}

function row(page: PageContext, shown: ShownApproval): Markup | Promise<Markup> {
  const { words, language } = page;
  const { approvalPages: own, operationPages } = words;
  const { approval, target } = shown;
  const { id, kind, requester, expiresAt } = approval;
  return html`<tr id="approval-${id}"><td>${own.kinds[kind]}</td><td>${operationPages.objects[approval.target.type]} ${target}</td><td>${versionOf(words, shown)}</td><td>${nameOf(words, requester)}</td><td>${timeOf(language, expiresAt)}</td><td>${decision(page, shown)}</td></tr>`;
}

function versionOf(words: Words, { approval, policy }: ShownApproval): Markup | Promise<Markup> {
  if (policy === null) return html``;
  const { id, name, isReadable } = policy;
  const revision = approval.after?.revision ?? null;
  return html`${isReadable ? html`<a href="/policies/${id}">${name}</a>` : name} ${revision === null ? '' : `${words.revision} ${revision}`}`;
}

/** The approval, the button that gives it, or why this person cannot give it. */
function decision({ words, session }: PageContext, shown: ShownApproval): Markup | Promise<Markup> {
  const { approvalPages: own } = words;
  const { approval, target, isOwn, mayCarryOut } = shown;
  const { id, kind, approver, requester } = approval;
  if (approver !== null) {
    const text = own.approved(nameOf(words, approver), nameOf(words, requester));
    return html`${badge('good', text, { isNamed: true })}${isOwn ? html`<span class="sub">${own.repeat}</span>` : ''}`;
  }
  if (isOwn) return html`<span class="quiet">${own.own}</span>`;
  if (!mayCarryOut)
    return html`<span class="quiet">${own.needs[kind === 'policy.archive' ? 'author' : 'applier']}</span>`;
  return html`<form method="post" action="/approvals/${id}/approve"><input type="hidden" name="csrf" value="${session?.csrf ?? ''}"><button>${own.approve}<span class="hidden"> ${own.kinds[kind]} ${target}</span></button></form>`;
}

function nameOf({ audit }: Words, author: AuditAuthor): string {
  return auditAuthorName(author) ?? audit.noAuthor;
}
