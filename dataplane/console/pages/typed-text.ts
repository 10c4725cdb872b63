import { html } from 'hono/html';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';

/** The text that a person typed into a page whose write was refused, to be copied. */
export function typedTexts(words: Words, texts: readonly string[]): Markup | Promise<Markup> {
  return html`${texts.map((text) => html`<label class="typed">${words.sessions.typed} <textarea class="code" rows="${text.includes('\n') ? 12 : 3}" readonly>\n${text}</textarea></label>`)}`;
}

/** The members of a form as they were sent, in a form that sends them again. */
export function sentAgain(
  words: Words,
  { action, members }: { readonly action: string; readonly members: readonly (readonly [string, string])[] },
): Markup | Promise<Markup> {
  return html`<form method="post" action="${action}" enctype="multipart/form-data">${members.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<p><button>${words.sessions.continue}</button></p></form>`;
}
