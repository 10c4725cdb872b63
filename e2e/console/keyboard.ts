import type { Locator, Page } from 'playwright-core';

/** Everything that a person can operate, in the order of the document. */
const controls = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
  .filter((one) => !one.disabled && one.checkVisibility({ visibilityProperty: true }))`;

/** The focused control: its place among all, a name for messages, and whether its focus is visible. */
const focused = `(() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const { width, height, left, top } = element.getBoundingClientRect();
  return {
    at: ${controls}.indexOf(element),
    name: element.outerHTML.slice(0, 120),
    isVisible: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && width > 0 && height > 0 && left >= 0 && top >= 0,
  };
})()`;

type Focus = { readonly at: number; readonly name: string; readonly isVisible: boolean };

/** Controls that the Tab key does not reach, or whose focus cannot be seen. */
export async function findKeyboardProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })");
  const names = (await page.evaluate(`${controls}.map((one) => one.outerHTML.slice(0, 120))`)) as readonly string[];
  const reached = new Set<number>();
  const problems: string[] = [];
  for (let presses = 0; presses <= names.length && reached.size < names.length; presses += 1) {
    await page.keyboard.press('Tab');
    const { at, name, isVisible } = (await page.evaluate(focused)) as Focus;
    if (at >= 0 && !isVisible) problems.push(`the focus is not visible: ${name}`);
    reached.add(at);
  }
  return [...problems, ...names.filter((_, at) => !reached.has(at)).map((name) => `not reached: ${name}`)];
}

type Matched = { matches(selector: string): boolean };
const isFocused = (element: Matched): boolean => element.matches(':focus');

/** Moves the focus with the Tab key, as a person without a mouse does. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 200; presses += 1) {
    if (await target.evaluate(isFocused)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the Tab key does not reach ${String(target)}`);
}
