/** Longest word that is compared: a longer word is not a misspelt name, and comparing it costs time. */
const longestWord = 64;

/**
 * The candidate that a writer most likely meant: it differs only in letter case, or by at most one edit for each three
 * letters of the word, three edits at most. If several candidates are equally near, the first one; undefined if none is
 * near.
 */
export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted.length === 0 || wanted.length > longestWord) return undefined;
  let allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  let nearest: string | undefined;
  for (const candidate of candidates) {
    if (candidate === word || Math.abs(candidate.length - wanted.length) > allowed) continue;
    const edits = editsBetween(wanted, candidate.toLowerCase());
    if (edits > allowed || edits >= candidate.length) continue;
    if (edits === 0) return candidate;
    nearest = candidate;
    allowed = edits - 1;
  }
  return nearest;
}

/**
 * The smallest number of insertions, deletions, replacements and swaps of neighbours that change one word into the
 * other.
 */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const shorter = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, replaced);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isSwap ? Math.min(shorter, (beforeLast[j - 2] ?? 0) + 1) : shorter);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
