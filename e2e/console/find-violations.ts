import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type AxeResults = {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
};

/**
 * The violations of WCAG 2.0 to 2.2 at the levels A and AA that axe-core finds in a page. The script of axe runs in a world of
 * its own, so that the content security policy of the page stays as it is.
 */
export async function findViolations(page: Page): Promise<readonly string[]> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
  const contextId = world.executionContextId;
  await session.send('Runtime.evaluate', { expression: source, contextId });
  const tags = "['wcag2a','wcag2aa','wcag21a','wcag21aa','wcag22aa']";
  const evaluated = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${tags} })`,
    awaitPromise: true,
    returnByValue: true,
    contextId,
  });
  await session.detach();
  if (evaluated.exceptionDetails !== undefined) throw new Error(evaluated.exceptionDetails.text);
  const { violations } = evaluated.result.value as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
  );
}
