import { html } from 'hono/html';
import type { z } from 'zod';
import type { memoryHistorySchema } from '#contracts/memory';
import type { Words } from '../words/en.ts';
import { badge } from './badge.ts';
import { notice } from './notice.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';
import { type PageLinks, pageLinks } from './page-links.ts';
import { timeOf } from './time.ts';

type ShownMemory = { readonly id: string; readonly memory: string; readonly updated_at: string };

/** The memories of the person, with a search, whose text is sent in a body. */
export function memoryPage(page: PageContext, memories: readonly ShownMemory[], links: PageLinks): ConsolePage {
  const { words, session } = page;
  const { remember } = words;
  const none = notice({ kind: 'empty', title: remember.none, text: remember.noneText });
  const csrf = html`<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">`;
  return {
    title: words.memory,
    main: html`<p class="hint">${remember.intro}</p>
<form class="row" method="post" action="/memory/search" hx-post="/memory/search" hx-target="#found" hx-sync="this:replace">${csrf}<label>${remember.search} <input type="search" name="text" required size="40" maxlength="1024"></label><button>${words.know.search}</button></form>
<div id="found" aria-live="polite">${memories.length === 0 ? none : memoryTable(page, memories)}${pageLinks(words, links)}</div>
<section aria-labelledby="erase"><h2 id="erase">${remember.erase}</h2><p>${remember.eraseText}</p>
<form class="row" method="post" action="/memory/erase">${csrf}
<label>${remember.eraseConfirm} <input name="name" required autocomplete="off"></label><button class="danger">${remember.erase}</button></form></section>`,
  };
}

/** The memories that match a text, best first. */
export function matchingMemories(page: PageContext, memories: readonly ShownMemory[]): Markup {
  const { remember } = page.words;
  return html`<p><a href="/memory">${remember.all}</a></p>
${memories.length === 0 ? html`<p class="quiet">${remember.foundNone}</p>` : memoryTable(page, memories)}`;
}

function memoryTable(
  { words, language, session }: PageContext,
  memories: readonly ShownMemory[],
): Markup | Promise<Markup> {
  const { remember } = words;
  const row = ({ id, memory, updated_at: at }: ShownMemory) => html`<tr><td><span class="said">${memory}</span>
<details><summary>${remember.correct}</summary><form class="row" method="post" action="/memory/${id}"><input type="hidden" name="csrf" value="${session?.csrf ?? ''}"><label>${remember.memory} <textarea name="text" rows="${Math.min(8, memory.split('\n').length)}" cols="60" required>\n${memory}</textarea></label><button>${words.save}</button></form></details></td>
<td>${timeOf(language, at)}</td><td><a href="/memory/${id}/history">${remember.history}</a></td>
<td><a href="/memory/${id}/delete">${remember.remove}</a></td></tr>`;
  return html`<table><thead><tr><th scope="col">${remember.memory}</th><th scope="col">${remember.since}</th><th scope="col">${remember.history}</th><th scope="col">${remember.remove}</th></tr></thead><tbody>${memories.map(row)}</tbody></table>`;
}

/** A page that asks before one memory is deleted. It is a page of its own, so that it works without scripts. */
export function memoryRemovalPage(
  { words, session }: PageContext,
  { id, memory }: Omit<ShownMemory, 'updated_at'>,
): ConsolePage {
  const { remember } = words;
  return {
    title: remember.removeTitle,
    main: html`<pre class="text" tabindex="0">${memory}</pre><p>${remember.removeText}</p>
<form class="row" method="post" action="/memory/${id}/delete"><input type="hidden" name="csrf" value="${session?.csrf ?? ''}"><button class="danger">${remember.removeButton}</button> <a href="/memory">${remember.keep}</a></form>`,
  };
}

/** The page with every change of one memory. */
export function memoryHistoryPage(
  { words, language }: PageContext,
  changes: z.infer<typeof memoryHistorySchema>,
): ConsolePage {
  const { remember } = words;
  return {
    title: remember.history,
    main: html`<p><a href="/memory">${words.memory}</a></p><table><thead><tr><th scope="col">${words.act.time}</th><th scope="col">${remember.change}</th><th scope="col">${remember.before}</th><th scope="col">${remember.after}</th></tr></thead><tbody>${changes.map(
      ({ event, old_memory: before, new_memory: after, created_at: at }) =>
        html`<tr><td>${timeOf(language, at)}</td><td>${badge(event === 'DELETE' ? 'off' : 'good', remember.changes[event])}</td><td>${before ?? ''}</td><td>${after ?? ''}</td></tr>`,
    )}</tbody></table>`,
  };
}

export function erasedNotice(words: Words, record: { readonly memories: number; readonly confirmation_id: string }) {
  const { remember } = words;
  const text = remember.erasedText(record.memories, record.confirmation_id);
  return notice({ kind: 'done', title: remember.erased, text });
}
