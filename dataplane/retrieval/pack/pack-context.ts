/** A chunk, or a whole document, that may be packed; candidates are given best first. */
export type PackCandidate = {
  readonly id: string;
  /** Id of the document; chunks of one document can be merged. */
  readonly doc: string;
  readonly title: string | null;
  readonly heading: string | null;
  /** Offsets in the stored text of the document, UTF-16 units; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

export type Packed = { readonly context: string; readonly tokens: number; readonly ids: readonly string[] };

/** A part of the context: chunks of one document that touch or overlap. */
type Block = {
  readonly doc: string;
  readonly title: string | null;
  readonly heading: string | null;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly ids: readonly string[];
};

const between = '\n\n';

/**
 * Packs candidates in their order into a context of at most `budget` tokens. Chunks that touch or overlap become one
 * block, which costs less than both, so candidates that did not fit are tried again until none does: no omitted candidate
 * would still fit (obligations retrieval:pack:*).
 * @param countTokens tokens of a text; those of a context are counted as a whole
 */
export function packContext(
  candidates: readonly PackCandidate[],
  budget: number,
  countTokens: (text: string) => number,
): Packed {
  const cost = memo(countTokens);
  let blocks: readonly Block[] = [];
  let left = candidates;
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    left = left.filter((candidate) => {
      const next = added(blocks, candidate);
      if (tokensOf(next, cost) > budget) return true;
      blocks = next;
      return false;
    });
  }
  const context = blocks.map(written).join(between);
  return { context, tokens: tokensOf(blocks, cost), ids: blocks.flatMap(({ ids }) => ids) };
}

function added(blocks: readonly Block[], candidate: PackCandidate): readonly Block[] {
  const { id, doc, title, heading, start, end, text } = candidate;
  const isTouching = (block: Block): boolean => block.doc === doc && block.start <= end && start <= block.end;
  const touching = blocks.filter(isTouching);
  const own: Block = { doc, title, heading, start, end, text, ids: [id] };
  const [first] = touching;
  if (first === undefined) return [...blocks, own];
  const merged = [...touching, own].toSorted((a, b) => a.start - b.start || b.end - a.end).reduce(joined);
  const whole = { ...merged, ids: [...touching.flatMap(({ ids }) => ids), id] };
  return blocks.flatMap((block) => (block === first ? [whole] : isTouching(block) ? [] : [block]));
}

/** `one` begins no later than `other` and ends no earlier than where `other` begins. */
function joined(one: Block, other: Block): Block {
  if (other.end <= one.end) return one;
  return { ...one, end: other.end, text: one.text + other.text.slice(one.end - other.start) };
}

function written({ title, heading, text }: Block): string {
  const head = [title, heading].filter((line) => line !== null && line !== '');
  return head.length === 0 ? text : `[${head.join(' / ')}]\n${text}`;
}

/**
 * Tokens of blocks as one text. An encoding splits a text after line breaks that precede a letter or a bracket, so that a
 * block with the break behind it has the same tokens alone; other texts are counted as a whole.
 */
function tokensOf(blocks: readonly Block[], cost: (text: string) => number): number {
  const texts = blocks.map(written);
  if (!texts.every((text) => /^[\p{L}[]/u.test(text) && !/\s$/.test(text))) return cost(texts.join(between));
  return texts.reduce((sum, text, at) => sum + cost(at < texts.length - 1 ? text + between : text), 0);
}

function memo(countTokens: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const found = known.get(text) ?? countTokens(text);
    known.set(text, found);
    return found;
  };
}
