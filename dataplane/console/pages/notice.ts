import { html } from 'hono/html';
import type { ApiAnswer } from '../clients/call-api.ts';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';

/** A statement with the next step: an empty page, or an error. */
export function notice(options: {
  readonly kind: 'empty' | 'error' | 'done';
  readonly title: string;
  readonly text: string;
  readonly code?: string;
  readonly link?: { readonly href: string; readonly label: string };
}): Markup | Promise<Markup> {
  const { kind, title, text, code, link } = options;
  return html`<div class="notice ${kind}" ${kind === 'empty' ? '' : html`role="${kind === 'error' ? 'alert' : 'status'}"`}>
<p class="lead">${title}</p>
<p>${text}</p>
${code === undefined ? '' : html`<p class="code"><code>${code}</code></p>`}
${link === undefined ? '' : html`<p><a href="${link.href}">${link.label}</a></p>`}
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
  if (status === 401) {
    const link = { href: '/sign-in', label: words.signIn };
    return notice({ kind: 'error', title: errors.ended, text: errors.endedText, code, link });
  }
  if (status === 403) {
    const text = `${message} ${errors.forbiddenText}`;
    return notice({ kind: 'error', title: errors.forbidden, text, code });
  }
  return notice({ kind: 'error', title: errors.refused, text: message, code });
}
