import { html } from 'hono/html';
import type { Words } from '../words/en.ts';
import type { Markup } from './page.ts';

/**
 * The addresses of the first and of the next page of a list; undefined if that page is the current one or does not
 * exist.
 */
export type PageLinks = { readonly first: string | undefined; readonly next: string | undefined };

/** The links of a page whose address names, in one parameter, its first entry or the entry before that. */
export function linksOf(
  path: string,
  page: { readonly parameter: string; readonly at: string | undefined; readonly next: string | number | null },
): PageLinks {
  const { parameter, at, next } = page;
  return {
    first: at === undefined ? undefined : path,
    next: next === null ? undefined : `${path}?${new URLSearchParams({ [parameter]: String(next) })}`,
  };
}

export function pageLinks({ lists }: Words, links: PageLinks): Markup | Promise<Markup> {
  const { first, next } = links;
  if (first === undefined && next === undefined) return html``;
  return html`<p class="row">${first === undefined ? '' : html`<a href="${first}">${lists.first}</a>`} ${next === undefined ? '' : html`<a href="${next}">${lists.next}</a>`}</p>`;
}
