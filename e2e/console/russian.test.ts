import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inBrowser, missingBrowser } from '../support/browser.ts';
import { type HostileConsole, hostilePages, openHostileConsole } from './open-hostile-console.ts';

/** Texts of the answers without Latin letters: a Latin letter on the page then comes from the console. */
const texts = Array.from({ length: 200 }, (_, at) => `ответ ${at}`);
/**
 * The visible texts of the page without names of things: code, text fields, and text in another language. Alternative texts and
 * labels for screen readers count.
 */
const shownTexts = `(() => {
  const isName = (element) => element.closest('code, pre, textarea, select, noscript, .mono, svg, [lang]:not(html)') !== null;
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!isName(walker.currentNode.parentElement)) found.push(walker.currentNode.nodeValue);
  for (const element of document.querySelectorAll('[aria-label], [alt], [title]'))
    for (const name of ['aria-label', 'alt', 'title']) found.push(element.getAttribute(name) ?? '');
  for (const option of document.querySelectorAll('option')) found.push(option.textContent);
  return [document.title, ...found];
})()`;
/** Commands and names, which are the same in Russian. */
const same =
  /portcullis [a-z -]+examples\/recipes\/|portcullis [a-z -]+|spec\.tests|Portcullis|English|ModelBinding|FILE|\.yaml|RE2|Markdown|Office|PDF|UTF-8|YAML|UTC|SHA-256|MCP|Agent|A2A|kubectl|draft|flow\.yaml:\S+|subflows\[\d\]/g;
/** Values of the APIs, recipes, and the sample person. */
const value =
  /^([a-z]+\.[a-z]+|read|ann|(a2a|mcp)(, (sdk|low-code))?|http:\S+|secrets|personal-data|competitors|topic|system-prompt|language|(Список терминов: )?forbidden)$/;

describe.skipIf(missingBrowser !== undefined)(inBrowser('pages in Russian'), () => {
  let shown: HostileConsole;

  beforeAll(async () => {
    shown = await openHostileConsole({ texts, locale: 'ru' });
  });
  afterAll(() => shown[Symbol.asyncDispose]());

  test.each(hostilePages)('the page %s has no untranslated English text', async (path) => {
    expect((await shown.visit(path)).status).toBe(200);
    expect(await shown.page.locator('html').getAttribute('lang')).toBe('ru');
    const all = (await shown.page.evaluate(shownTexts)) as readonly string[];
    expect(all.length).toBeGreaterThan(20);
    const english = all.map((text) => text.trim()).filter((text) => !value.test(text));
    expect(english.filter((text) => /[a-z]{2}/i.test(text.replaceAll(same, '')))).toEqual([]);
  });
});
