import { html } from 'hono/html';
import type { Words } from '../words/en.ts';
import { sentencesEn } from '../words/sentences/sentences-en.ts';
import { translate } from '../words/sentences/translate.ts';
import type { Markup } from './page.ts';

/** A text of an API in the language of the page. A part without a translation is marked as English. */
export function saidText({ sentences }: Words, text: string): string | Markup | Promise<Markup> {
  if (sentences === sentencesEn || text === '') return text;
  const parts = translate(sentences, text);
  return html`${parts.map((part) => (part.isEnglish ? html`<span lang="en">${part.text}</span>` : part.text))}`;
}
