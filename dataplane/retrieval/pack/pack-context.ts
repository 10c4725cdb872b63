import { shortenLine } from '#kit/text/shorten-line';

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
type Block = Omit<PackCandidate, 'id'> & { readonly ids: readonly string[] };

const between = '\n\n';

/**
 * Counts the tokens of a text. Above `most`, counting may stop early with any number above `most`. The counter is used
 * for long texts, so it yields to other work.
 */
export type TokenCounter = (text: string, most: number) => Promise<number>;

/**
 * Packs candidates in their order into a context of at most `budget` tokens. Chunks that touch or overlap become one
 * block, which costs less than both, so omitted candidates are tried again until none of them fits (obligations
 * retrieval:pack:*).
 */
export async function packContext(
  candidates: readonly PackCandidate[],
  budget: number,
  countTokens: TokenCounter,
): Promise<Packed> {
  const cost = createCosts(countTokens);
  let blocks: readonly Block[] = [];
  let left = candidates;
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    const omitted: PackCandidate[] = [];
    for (const candidate of left) {
      const next = added(blocks, candidate);
      if ((await cost(next, budget)) > budget) omitted.push(candidate);
      else blocks = next;
    }
    left = omitted;
  }
  return packedOf(blocks, await cost(blocks, budget));
}

/** Packs all candidates; undefined if they have more tokens than the budget. */
export async function packAll(
  candidates: readonly PackCandidate[],
  budget: number,
  countTokens: TokenCounter,
): Promise<Packed | undefined> {
  const blocks = candidates.reduce(added, [] as readonly Block[]);
  const tokens = await createCosts(countTokens)(blocks, budget);
  return tokens > budget ? undefined : packedOf(blocks, tokens);
}

function packedOf(blocks: readonly Block[], tokens: number): Packed {
  return { context: blocks.map(written).join(between), tokens, ids: blocks.flatMap(({ ids }) => ids) };
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

/** Joins two blocks: `one` begins no later than `other`, and ends no earlier than the start of `other`. */
function joined(one: Block, other: Block): Block {
  if (other.end <= one.end) return one;
  return { ...one, end: other.end, text: one.text + other.text.slice(one.end - other.start) };
}

/** Longest title and heading of a block, UTF-16 units: a budget is for text. */
const mostOfHead = 256;

function written({ title, heading, text }: Block): string {
  const head = [title, heading].flatMap((line) =>
    line === null || line === '' ? [] : [shortenLine(line, mostOfHead)],
  );
  return head.length === 0 ? text : `[${head.join(' / ')}]\n${text}`;
}

/**
 * Returns a function that counts the tokens of blocks as one text; for a count above `most` it returns any number above
 * `most`. Blocks that were counted before are not counted again.
 */
function createCosts(countTokens: TokenCounter): (blocks: readonly Block[], most: number) => Promise<number> {
  const known = new Map<string, number>();
  const idOf = createIds();

  async function costOf(part: readonly Block[], isLast: boolean, most: number): Promise<number> {
    const key = `${part.map(idOf).join(' ')} ${isLast}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const text = part.map(written).join(between) + (isLast ? '' : between);
    const tokens = await countTokens(text, most);
    if (tokens <= most) known.set(key, tokens);
    return tokens;
  }

  return async (blocks, most) => {
    const parts = separable(blocks);
    let tokens = 0;
    for (const [at, part] of parts.entries()) {
      tokens += await costOf(part, at === parts.length - 1, most - tokens);
      if (tokens > most) return tokens;
    }
    return tokens;
  };
}

/** Names blocks by numbers, because their texts are long. */
function createIds(): (block: Block) => number {
  const ids = new WeakMap<Block, number>();
  let last = 0;
  return (block) => {
    const id = ids.get(block) ?? ++last;
    ids.set(block, id);
    return id;
  };
}

/**
 * Splits blocks into parts whose tokens can be counted separately. The encoding splits a text after line breaks, unless
 * white space or a slash follows them.
 */
function separable(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const parts: Block[][] = [];
  for (const block of blocks) {
    const last = parts.at(-1);
    if (last === undefined || /^[^\s/]/.test(written(block))) parts.push([block]);
    else last.push(block);
  }
  return parts;
}
