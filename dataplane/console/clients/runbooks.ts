import { readdirSync, readFileSync } from 'node:fs';
import { Marked } from 'marked';

/**
 * One page of docs/runbooks. `html` is made only from the file: its raw HTML is text, and its links point to other
 * runbooks.
 */
export type Runbook = { readonly name: string; readonly title: string; readonly html: string };

const folder = new URL('../../../docs/runbooks/', import.meta.url);

/** The runbooks of this release by name, without README. */
export function readRunbooks(): ReadonlyMap<string, Runbook> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .map((file) => file.slice(0, -'.md'.length))
    .sort();
  return new Map(names.map((name) => [name, renderRunbook(name, readFileSync(new URL(`${name}.md`, folder), 'utf8'))]));
}

/** The first heading is the title, because a page has its own. */
export function renderRunbook(name: string, text: string): Runbook {
  const [first = '', ...rest] = text.split('\n');
  const title = first.replace(/^# /, '');
  const html = new Marked({
    async: false,
    renderer: {
      html: ({ text: raw }) => escaped(raw),
      image: ({ text: raw }) => escaped(raw),
      // A code block that scrolls is reached by the keyboard.
      code: ({ text: code }) => `<pre class="text" tabindex="0">${escaped(code)}</pre>\n`,
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const to = /^([a-z0-9-]+)\.md(#[a-z0-9-]+)?$/.exec(href);
        return to === null ? shown : `<a href="/runbooks/${to[1]}">${shown}</a>`;
      },
    },
  }).parse(rest.join('\n')) as string;
  return { name, title, html };
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '');
}
