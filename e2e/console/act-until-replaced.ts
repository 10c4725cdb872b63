import type { Locator } from 'playwright-core';

type Marked = {
  readonly ownerDocument: { createElement(tag: string): { setAttribute(name: string, value: string): void } };
  append(child: object): void;
};

function appendMark(element: Marked): void {
  const mark = element.ownerDocument.createElement('i');
  mark.setAttribute('data-before', '');
  element.append(mark);
}

/** Acts, and waits until the content of an element is replaced: the earlier content is not taken for the result. */
export async function actUntilReplaced(element: Locator, act: () => Promise<unknown>): Promise<void> {
  await element.evaluate(appendMark);
  await act();
  await element.locator('[data-before]').waitFor({ state: 'detached' });
}
