import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violations = readonly {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}[];

const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

/**
 * The violations of WCAG 2.0 to 2.2 at the levels A and AA that axe-core finds in a page, in the light and in the dark
 * theme. The script of axe runs in an isolated world, so that the content security policy of the page stays unchanged.
 * @param look is called in each theme
 */
export async function findViolations(
  page: Page,
  look: (theme: Theme) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const contextId = world.executionContextId;
  await session.send('Runtime.evaluate', { expression: source, contextId });
  const tags = "['wcag2a','wcag2aa','wcag21a','wcag21aa','wcag22aa']";
  const found: string[] = [];
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme });
    const evaluated = await session.send('Runtime.evaluate', {
      expression: `axe.run(document, { runOnly: ${tags}, resultTypes: ['violations'] }).then((found) => found.violations)`,
      awaitPromise: true,
      returnByValue: true,
      contextId,
    });
    if (evaluated.exceptionDetails !== undefined) throw new Error(evaluated.exceptionDetails.text);
    for (const { id, nodes } of evaluated.result.value as Violations) {
      found.push(...nodes.map(({ html, failureSummary = '' }) => `${theme}: ${id}: ${html} ${failureSummary}`));
    }
    await look(theme);
  }
  await session.detach();
  return found;
}
