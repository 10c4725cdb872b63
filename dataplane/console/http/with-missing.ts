import { html } from 'hono/html';
import type { ApiAnswer } from '../clients/call-api.ts';
import { isMissing } from '../clients/is-passing.ts';
import { notice } from '../pages/notice.ts';
import type { ConsolePage } from '../pages/page.ts';
import type { Words } from '../words/en.ts';

/**
 * Names the parts of a page that are missing because a service gave no usable answer: otherwise they would seem to be
 * empty.
 * @param parts names, each with the answer that its part is made of; undefined for a part that was not requested
 */
export function withMissing(
  { errors }: Words,
  page: ConsolePage,
  parts: readonly (readonly [name: string, answer: ApiAnswer<unknown> | undefined])[],
): ConsolePage {
  const missing = parts.filter(([, answer]) => answer !== undefined && isMissing(answer));
  if (missing.length === 0) return page;
  const [code] = missing.flatMap(([, answer]) => (answer?.kind === 'refused' ? [answer.code] : []));
  const shown = notice({
    kind: 'error',
    title: errors.incomplete,
    text: errors.missing([...new Set(missing.map(([name]) => name))].join(', ')),
    ...(code === undefined ? {} : { code }),
  });
  return { ...page, main: html`${shown}${page.main}` };
}
