import { html } from 'hono/html';
import { retrievalLimits } from '#contracts/retrieval';
import type { Words } from '../words/en.ts';
import { notice } from './notice.ts';
import type { Markup, PageContext } from './page.ts';

/** Maximum number of files of one upload. */
export const mostFiles = 50;
/** Maximum size of the content of one document at the retrieval service, which measures the content as JSON. */
export const mostFileBytes = retrievalLimits.inlineBytes;
const mebibyte = 1_048_576;

/**
 * The section for the upload and the reindexing of a collection. The script sends the files one after another, so that
 * each file has its own size limit; without the script one form sends all files under one limit.
 */
export function writingSection({ words, session }: PageContext, id: string): Markup | Promise<Markup> {
  const { know } = words;
  const csrf = html`<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">`;
  return html`<section aria-labelledby="upload"><h2 id="upload">${know.upload}</h2>
<form class="row drop" method="post" action="/knowledge/${id}/documents" enctype="multipart/form-data" hx-post="/knowledge/${id}/documents" hx-encoding="multipart/form-data" hx-target="#uploads" hx-swap="beforeend" data-drop data-files="${mostFiles}" data-bytes="${mostFileBytes}" data-unsent="${know.uploadUnsent}">
${csrf}<input type="hidden" name="note" value=""><label>${know.file} <input type="file" name="file" multiple required accept=".md,.txt,text/plain,text/markdown"></label><button>${know.uploadButton}</button> <span class="hint">${know.dropHint}</span></form>
<p class="hint">${know.uploadHint} ${know.uploadMost(mostFileBytes / mebibyte)}</p><p id="sending" hidden><progress aria-label="${know.uploadSending}"></progress> <span class="count"></span></p><div id="uploads" aria-live="polite"></div></section>
<form method="post" action="/knowledge/${id}/reindex">${csrf}<p><button class="plain">${know.reindex}</button></p></form>`;
}

/** Why a file of an upload was not added. */
export function unaddedNotice(
  { know }: Words,
  reason: 'same_name' | 'too_large' | 'too_many' | 'unread',
  name: string,
): Markup | Promise<Markup> {
  const texts = {
    same_name: { title: know.uploadSame, text: know.uploadSameText },
    too_large: { title: know.uploadLarge, text: know.uploadMost(mostFileBytes / mebibyte) },
    too_many: { title: know.uploadCount, text: know.uploadCountText(mostFiles) },
    unread: { title: know.uploadUnread, text: know.uploadUnreadText },
  };
  return notice({ kind: 'error', ...texts[reason], code: name });
}
