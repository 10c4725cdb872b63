import { html } from 'hono/html';
import type { PersonSession } from '../sessions/session.ts';
import type { Language } from '../words/choose-words.ts';
import type { Words } from '../words/en.ts';

/** HTML that a template made: every value in it is escaped. */
export type Markup = ReturnType<typeof html>;

export type Theme = 'auto' | 'light' | 'dark';

/** The context of a request that every page gets. */
export type PageContext = {
  readonly words: Words;
  readonly language: Language;
  readonly theme: Theme;
  readonly session: PersonSession | undefined;
  /** Path of the request, for the mark in the navigation. */
  readonly path: string;
  /** Path and query of a page that can be opened again; of every other request, the first page. */
  readonly here: string;
  readonly has: { readonly retrieval: boolean; readonly memory: boolean; readonly agents: boolean };
  /** Version of the assets in their addresses. */
  readonly assets: string;
};

export type ConsolePage = { readonly title: string; readonly main: Markup | Promise<Markup> };

type NavigationEntry = { readonly href: string; readonly label: string };

/** The pages that the person may open: those that an API would refuse are not offered. */
function navigation({ words, session, has }: PageContext): readonly NavigationEntry[] {
  if (session === undefined) return [];
  const { rights } = session;
  const readsPolicies = rights.view || rights.readsPolicies;
  const readsModels = rights.view || rights.readsModels;
  // Without the right to view all operations and approvals, the lists show the person's own commands.
  const hasCommands = readsPolicies || readsModels;
  const commands = [
    { href: '/operations', label: words.operationPages.title },
    { href: '/approvals', label: words.approvalPages.title },
  ];
  return [
    ...(readsModels ? [{ href: '/overview', label: words.overview }] : []),
    ...(readsPolicies ? [{ href: '/policies', label: words.policies }] : []),
    ...(rights.check ? [{ href: '/playground', label: words.playground }] : []),
    ...(rights.view ? [{ href: '/activity', label: words.activity }] : []),
    ...(hasCommands ? commands : []),
    ...(rights.administer ? [{ href: '/audit', label: words.audit.title }] : []),
    ...(has.retrieval ? [{ href: '/knowledge', label: words.knowledge }] : []),
    ...(has.memory ? [{ href: '/memory', label: words.memory }] : []),
    ...(has.agents ? [{ href: '/agents', label: words.agents }] : []),
  ];
}

/** A whole page. */
export function layout(page: PageContext, { title, main }: ConsolePage): Markup | Promise<Markup> {
  const { words, language, theme, session, path, assets } = page;
  return html`<!doctype html>
<html lang="${language}" data-theme="${theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="htmx-config" content='{"extensions":"console,sse","defaultSwap":"innerHTML","includeIndicatorCSS":false,"history":false}'>
${session === undefined ? '' : html`<meta name="csrf" content="${session.csrf}">`}
<title>${title} · ${words.product}</title>
<link rel="icon" href="/assets/${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/${assets}/console.css">
<script src="/assets/${assets}/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">${words.skip}</a>
<header class="bar">
<a class="brand" href="/"><img src="/assets/${assets}/icon.svg" alt="" width="22" height="22">${words.product}</a>
<nav aria-label="${words.menu}"><ul>${navigation(page).map(
    ({ href, label }) =>
      html`<li><a href="${href}" ${path.startsWith(href) ? html`aria-current="page"` : ''}>${label}</a></li>`,
  )}</ul></nav>
${personMenu(page)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${main}
<p id="lost" role="status" hidden>${words.errors.lost} <time></time></p>
</main>
</body>
</html>`;
}

/** Language, theme and the end of the session. */
function personMenu({ words, language, theme, session, here }: PageContext): Markup | Promise<Markup> {
  const option = (value: string, label: string, chosen: string) =>
    html`<option value="${value}" ${value === chosen ? html`selected` : ''}>${label}</option>`;
  return html`<details class="person">
<summary>${session?.subject ?? words.preferences}</summary>
<div class="menu">
<form method="post" action="/preferences" data-confirm="${words.preferencesLoses}">
<input type="hidden" name="csrf" value="${session?.csrf ?? ''}">
<input type="hidden" name="return_to" value="${here}">
<label>${words.languageLabel} <select name="language">${option('en', 'English', language)}${option('ru', 'Русский', language)}</select></label>
<label>${words.theme} <select name="theme">${option('auto', words.themeAuto, theme)}${option('light', words.themeLight, theme)}${option('dark', words.themeDark, theme)}</select></label>
<button class="plain">${words.save}</button>
</form>
${session === undefined ? '' : html`<form method="post" action="/sign-out"><input type="hidden" name="csrf" value="${session.csrf}"><button class="plain">${words.signOut}</button></form>`}
</div>
</details>`;
}
