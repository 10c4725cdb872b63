/**
 * The F1 score of the words of a text and of a reference, from 0 to 1, as in the evaluation of SQuAD: case and
 * punctuation are ignored, and a common word counts as often as both texts contain it.
 */
export function wordOverlap(text: string, reference: string): number {
  const [given, wanted] = [wordsOf(text), wordsOf(reference)];
  if (given.length === 0 || wanted.length === 0) return given.length === wanted.length ? 1 : 0;
  const left = new Map<string, number>();
  for (const word of wanted) left.set(word, (left.get(word) ?? 0) + 1);
  let same = 0;
  for (const word of given) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    same += 1;
  }
  if (same === 0) return 0;
  const [precision, recall] = [same / given.length, same / wanted.length];
  return (2 * precision * recall) / (precision + recall);
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}
