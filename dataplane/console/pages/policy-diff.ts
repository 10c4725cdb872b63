import { html } from 'hono/html';
import { type DiffLine, lineDiff } from '#kit/text/line-diff';
import type { ConsolePage, PageContext } from './page.ts';

type Side = { readonly number: number; readonly text: string; readonly isChanged: boolean };
type DiffRow = { readonly before: Side | undefined; readonly after: Side | undefined };

/** Two versions of a policy side by side. */
export function policyDiffPage(
  { words }: PageContext,
  diff: {
    readonly id: string;
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly before: string;
    readonly after: string;
  },
): ConsolePage {
  const { policyPages: own } = words;
  const lines = lineDiff(diff.before.trimEnd().split('\n'), diff.after.trimEnd().split('\n'));
  const isSame = lines.every(({ kind }) => kind === 'kept');
  const cell = (side: Side | undefined, mark: 'removed' | 'added') =>
    side === undefined
      ? html`<td class="gutter"></td><td class="void"></td>`
      : html`<td class="gutter">${side.number}</td><td class="${side.isChanged ? mark : ''}"><code>${side.isChanged ? (mark === 'added' ? '+ ' : '- ') : '  '}${side.text}</code></td>`;
  return {
    title: `${diff.name}: ${own.compareTitle(diff.from, diff.to)}`,
    main: html`<p><a href="/policies/${diff.id}">${diff.name}</a></p>
${isSame ? html`<p class="quiet">${own.same}</p>` : ''}
<div class="scroll" tabindex="0" role="region" aria-label="${own.compareTitle(diff.from, diff.to)}"><table class="diff"><thead><tr><th scope="col" colspan="2">${own.before}: ${diff.from}</th><th scope="col" colspan="2">${own.after}: ${diff.to}</th></tr></thead>
<tbody>${sideBySide(lines).map(({ before, after }) => html`<tr>${cell(before, 'removed')}${cell(after, 'added')}</tr>`)}</tbody></table></div>`,
  };
}

/** Pairs the removed lines of a change with the added ones. */
function sideBySide(lines: readonly DiffLine[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: Side[] = [];
  let added: Side[] = [];
  let [left, right] = [0, 0];
  function flush(): void {
    const count = Math.max(removed.length, added.length);
    for (let at = 0; at < count; at += 1) rows.push({ before: removed[at], after: added[at] });
    [removed, added] = [[], []];
  }
  for (const { kind, line } of lines) {
    if (kind !== 'added') left += 1;
    if (kind !== 'removed') right += 1;
    if (kind === 'removed') removed.push({ number: left, text: line, isChanged: true });
    else if (kind === 'added') added.push({ number: right, text: line, isChanged: true });
    else {
      flush();
      rows.push({
        before: { number: left, text: line, isChanged: false },
        after: { number: right, text: line, isChanged: false },
      });
    }
  }
  flush();
  return rows;
}
