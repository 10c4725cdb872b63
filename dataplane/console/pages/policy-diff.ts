import { html } from 'hono/html';
import { type DiffLine, lineDiff } from '#kit/text/line-diff';
import type { ConsolePage, Markup, PageContext } from './page.ts';

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
  const { id, name, from, to } = diff;
  const label = own.compareTitle(from, to);
  const before = { title: `${own.before}: ${from}`, text: diff.before };
  const after = { title: `${own.after}: ${to}`, text: diff.after };
  return {
    title: `${name}: ${label}`,
    main: html`<p><a href="/policies/${id}">${name}</a></p>
${diffTable({ label, before, after, same: own.same })}`,
  };
}

type ComparedText = { readonly title: string; readonly text: string };

/** Two texts side by side. */
export function diffTable(diff: {
  readonly label: string;
  readonly before: ComparedText;
  readonly after: ComparedText;
  /** The sentence for two texts without a difference. */
  readonly same: string;
}): Markup | Promise<Markup> {
  const { label, before, after, same } = diff;
  const lines = lineDiff(before.text.trimEnd().split('\n'), after.text.trimEnd().split('\n'));
  const isSame = lines.every(({ kind }) => kind === 'kept');
  const cell = (side: Side | undefined, mark: 'removed' | 'added') =>
    side === undefined
      ? html`<td class="gutter"></td><td class="void"></td>`
      : html`<td class="gutter">${side.number}</td><td class="${side.isChanged ? mark : ''}"><code>${side.isChanged ? (mark === 'added' ? '+ ' : '- ') : '  '}${side.text}</code></td>`;
  return html`${isSame ? html`<p class="quiet">${same}</p>` : ''}
<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="diff"><thead><tr><th scope="col" colspan="2">${before.title}</th><th scope="col" colspan="2">${after.title}</th></tr></thead>
<tbody>${sideBySide(lines).map((row) => html`<tr>${cell(row.before, 'removed')}${cell(row.after, 'added')}</tr>`)}</tbody></table></div>`;
}

/** Pairs the removed lines of a change with the added lines. */
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
