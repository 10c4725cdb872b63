import { html } from 'hono/html';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';
import { refusalText } from './refusal-text.ts';
import { saidText } from './said-text.ts';

export type NoticeLink = {
  readonly href: string;
  readonly label: string;
  /** The link opens in another tab, because the page of the notice may contain typed text. */
  readonly isApart?: boolean;
};

/** A statement with the next step: an empty page, or an error. */
export function notice(options: {
  readonly kind: 'empty' | 'error' | 'done';
  readonly title: string;
  readonly text: string | Markup | Promise<Markup>;
  /** A sentence of an API. */
  readonly detail?: string | Markup | Promise<Markup>;
  readonly code?: string;
  readonly link?: NoticeLink;
}): Markup | Promise<Markup> {
  const { kind, title, text, detail, code, link } = options;
  return html`<div class="notice ${kind}" ${kind === 'empty' ? '' : html`role="${kind === 'error' ? 'alert' : 'status'}"`}>
<p class="lead">${title}</p>
<p>${text}</p>
${detail === undefined ? '' : html`<p class="quiet small">${detail}</p>`}
${code === undefined ? '' : html`<p class="code"><code>${code}</code></p>`}
${link === undefined ? '' : html`<p><a href="${link.href}"${link.isApart === true ? html` target="_blank" rel="noopener"` : ''}>${link.label}</a></p>`}
</div>`;
}

/** The words for an answer of an API that is not a value. */
export function refusalNotice(
  words: Words,
  answer: Exclude<ApiAnswer<unknown>, { kind: 'value' }>,
): Markup | Promise<Markup> {
  const { errors } = words;
  if (answer.kind === 'away') {
    const link = { href: '/runbooks', label: words.runbookPages.title };
    return notice({ kind: 'error', title: errors.away, text: errors.awayText, link });
  }
  const { status, code, message } = answer;
  if (answer.isUnaccepted === true)
    return notice({ kind: 'error', title: errors.unaccepted, text: errors.unacceptedText, code });
  // The console requests nothing after the end of a session. A new sign-in helps after a rotation of the keys, and never with wrong settings.
  if (status === 401) {
    const link = { href: '/sign-in', label: words.signIn, isApart: true };
    const detail = refusalText(words, code, message).text;
    return notice({ kind: 'error', title: errors.unaccepted, text: errors.signInAgain, detail, code, link });
  }
  if (status === 403) {
    const { text, isOfCode } = refusalText(words, code, message);
    // The sentence of the API names the right.
    const detail = isOfCode && message !== '' ? { detail: saidText(words, message) } : {};
    const advised = html`${text} ${errors.forbiddenText}`;
    return notice({ kind: 'error', title: errors.forbidden, text: advised, code, ...detail });
  }
  // The link leads to the page where another person sees the request, and where the requester sees the approval.
  const link = code === 'approval_required' ? { href: '/approvals', label: words.approvalPages.title } : undefined;
  return failureNotice(words, { title: errors.refused, code, message, ...(link === undefined ? {} : { link }) });
}

type Failure = {
  readonly title: string;
  readonly code: string;
  readonly message: string;
  /** Why a command failed, if that is known. */
  readonly cause?: string | null;
  readonly link?: NoticeLink;
};

/** The words for an error with a code and a message of an API. */
export function failureNotice(words: Words, failure: Failure): Markup | Promise<Markup> {
  const { title, code, message, cause = null, link } = failure;
  const { isOfCode: _, text, ...detail } = refusalText(words, code, message);
  const caused = cause === null ? text : html`${text} ${words.operationPages.cause}: ${saidText(words, cause)}`;
  return notice({ kind: 'error', title, code, text: caused, ...detail, ...(link === undefined ? {} : { link }) });
}
