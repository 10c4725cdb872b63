import { type DiffLine, lineDiff } from './line-diff.ts';

/** Lines that are shown around a change. */
const context = 3;
const signs = { kept: ' ', removed: '-', added: '+' } as const;

type DiffSide = { readonly label: string; readonly text: string };

/** The difference between two texts in the unified format (POSIX diff -u); empty when they are equal. */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  const lines = lineDiff(linesOf(before.text), linesOf(after.text));
  let at = 0;
  let passed: Count = { before: 0, after: 0 };
  const hunks = hunksOf(lines).map(([from, to]) => {
    passed = plus(passed, countOf(lines.slice(at, from)));
    const shown = lines.slice(from, to);
    const text = hunkText(shown, passed);
    passed = plus(passed, countOf(shown));
    at = to;
    return text;
  });
  return hunks.length === 0 ? '' : `--- ${before.label}\n+++ ${after.label}\n${hunks.join('')}`;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** First and last line of each hunk; changes close to each other share a hunk. */
function hunksOf(lines: readonly DiffLine[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'kept') continue;
    const last = hunks.at(-1);
    const end = Math.min(lines.length, at + 1 + context);
    if (last !== undefined && at - context <= last[1]) last[1] = end;
    else hunks.push([Math.max(0, at - context), end]);
  }
  return hunks;
}

/** Number of lines of the hunk in each of the two texts. */
type Count = { readonly before: number; readonly after: number };

function countOf(lines: readonly DiffLine[]): Count {
  const without = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind !== kind).length;
  return { before: without('added'), after: without('removed') };
}

function plus(a: Count, b: Count): Count {
  return { before: a.before + b.before, after: a.after + b.after };
}

function hunkText(shown: readonly DiffLine[], passed: Count): string {
  const count = countOf(shown);
  const place = (side: keyof Count): string => `${passed[side] + (count[side] === 0 ? 0 : 1)},${count[side]}`;
  const body = shown.map(({ kind, line }) => `${signs[kind]}${line}\n`).join('');
  return `@@ -${place('before')} +${place('after')} @@\n${body}`;
}
