import { html, raw } from 'hono/html';
import type { Runbook } from '../clients/runbooks.ts';
import type { Words } from '../words/en.ts';
import type { ConsolePage, Markup, PageContext } from './page.ts';

/** Every runbook of this release. */
export function runbooksPage({ words }: PageContext, runbooks: readonly Runbook[]): ConsolePage {
  const { runbookPages: own } = words;
  return {
    title: own.title,
    main: html`<p class="hint">${own.intro}</p><table><thead><tr><th scope="col">${own.alert}</th></tr></thead><tbody>${runbooks.map(({ name, title }) => html`<tr><td><a href="/runbooks/${name}">${title}</a></td></tr>`)}</tbody></table>`,
  };
}

/** The page of one runbook. Its HTML is made from a file of this release; raw HTML in that file is shown as text. */
export function runbookPage({ words }: PageContext, runbook: Runbook): ConsolePage {
  const { runbookPages: own } = words;
  return {
    title: runbook.title,
    main: html`<p><a href="/runbooks">${own.title}</a></p><div lang="en">${raw(runbook.html)}</div>`,
  };
}

/** A link from a cause to its runbook. @param about the name of the object, for screen readers */
export function runbookLink({ runbookPages: own }: Words, name: string, about: string): Markup | Promise<Markup> {
  return html`<p><a href="/runbooks/${name}">${own.link}<span class="hidden"> ${about}</span></a></p>`;
}
