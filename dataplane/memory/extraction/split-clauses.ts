/** A part of a message with its place, in UTF-16 units. */
type Clause = {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly isQuestion: boolean;
  /** The sentence that the clause belongs to. */
  readonly sentence: { readonly start: number; readonly end: number };
};

// Users write the texts. Each pattern takes time in proportion to the text, because it begins only at the first
// character of a run of marks or blanks; the end of a clause is found without a pattern.
/**
 * Ends of sentences: marks before white space, and line breaks. A mark inside a number or an address does not end one.
 */
const sentenceEnds =
  /(?<=\s)(?:[:;]-?\)|\)\))\)*(?=\s|$)|(?<=\s)(?:haha+|lol|tbh|just saying|if that matters|ахах\p{L}*|так вышло|вот так|если это важно)(?=\s)|(?<=\s)(?=(?:does that help|это поможет)\s*(?:\?|$))|(?<![.!?…])[.!?…]+(?=["»”)]*(?:\s|$))["»”)]*|[\n\r]+|;\s/gu;
/** A second statement about the speaker in the same sentence. */
const joints =
  /(?:,|(?<![\s,]))\s+(?:and|but|while|а|и|но|а также|и ещё)\s+(?=(?:I|I'm|I’m|my|я|мой|моя|моё|мои|мне|меня|у меня)(?:\s|['’]))|,\s+(?=(?:I|I'm|I’m|my|я|мой|моя|моё|мои|мне|меня|у меня)(?:\s|['’]))/giu;
const listMark = /^[\s\-–—*•>\d.)#:"«“]+(?=\p{L})/u;
const trailingMarks = new Set(',:"»”');

/** The statements of a message in their order. A list mark or a quotation mark before one is left out. */
export function splitClauses(text: string): readonly Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  const take = (end: number, mark: string): void => {
    const sentence = { start: from, end };
    for (const [start, stop] of divided(text, from, end)) {
      const clause = clauseOf(text, start, stop, { isQuestion: mark.includes('?'), sentence });
      if (clause !== undefined) clauses.push(clause);
    }
  };
  for (const { 0: mark, index } of text.matchAll(sentenceEnds)) {
    take(index, mark);
    from = index + mark.length;
  }
  take(text.length, '');
  return clauses;
}

function divided(text: string, from: number, end: number): readonly (readonly [number, number])[] {
  const sentence = text.slice(from, end);
  const parts: (readonly [number, number])[] = [];
  let start = 0;
  for (const { 0: joint, index } of sentence.matchAll(joints)) {
    parts.push([from + start, from + index]);
    start = index + joint.length;
  }
  parts.push([from + start, end]);
  return parts;
}

function clauseOf(
  text: string,
  start: number,
  end: number,
  more: Pick<Clause, 'isQuestion' | 'sentence'>,
): Clause | undefined {
  const raw = text.slice(start, end);
  const marked = listMark.exec(raw)?.[0].length ?? raw.length - raw.trimStart().length;
  let stop = raw.trimEnd().length;
  while (stop > marked && trailingMarks.has(raw.charAt(stop - 1))) stop -= 1;
  if (stop <= marked) return undefined;
  return { text: raw.slice(marked, stop), start: start + marked, end: start + stop, ...more };
}
