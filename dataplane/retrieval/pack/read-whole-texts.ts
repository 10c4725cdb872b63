import type { ByteBudget } from '#kit/http/byte-budget';
import type { TokenCounter } from './pack-context.ts';

type WholeText = { readonly doc: string; readonly text: string };

export type WholeTexts = {
  /** Characters of the texts together; undefined above a bound. */
  length(most: number): Promise<number | undefined>;
  /** The texts, or the first characters of each. */
  read(docs: readonly string[], first?: number): Promise<readonly WholeText[]>;
};

type Bounds = {
  /** Tokens of the context. */
  readonly budget: number;
  readonly countTokens: TokenCounter;
  /** The memory of all requests of the process that hold whole texts. */
  readonly held: ReturnType<ByteBudget['open']>;
};

/** Most UTF-16 units that one token of the encoding represents. */
const mostUnitsOfToken = 128;
/** Longest texts of one request, characters: those of the longest document. */
const mostUnits = 16_777_216;
/** Texts of at most so many characters are read without a look at their beginnings. */
const readAtOnce = 1_048_576;
/** Characters that are read of each longer text first. Ordinary text has fewer for each token. */
const unitsOfBeginning = 8;
/** A text that is cut within a word can have so many tokens more than its beginning in the whole text. */
const tokensOfCut = 1_024;
/** The text as it is received, decoded, and joined into the context with its heading. */
const bytesOfUnit = 8;

/** The bytes of all requests together, and of one request. */
export const wholeTextLimits = { bytes: 201_326_592, ofRequest: mostUnits * bytesOfUnit } as const;

/**
 * The whole texts of documents, unless they certainly have more tokens than the budget. Of long texts the beginnings are
 * counted first, one after another, because most of them end the count.
 * @returns `overloaded` if other requests of the process hold too many texts
 */
export async function readWholeTexts(
  texts: WholeTexts,
  docs: readonly string[],
  { budget, countTokens, held }: Bounds,
): Promise<readonly WholeText[] | 'too_long' | 'overloaded'> {
  const length = await texts.length(Math.min(budget * mostUnitsOfToken, mostUnits));
  if (length === undefined) return 'too_long';
  if (length > readAtOnce) {
    const beginning = budget * unitsOfBeginning;
    if (!(await held.take(Math.min(length, beginning) * bytesOfUnit))) return 'overloaded';
    let tokens = 0;
    for (const doc of docs) {
      const [found] = await texts.read([doc], beginning);
      if (found === undefined) continue;
      const most = budget + tokensOfCut - tokens;
      tokens += Math.max(0, (await countTokens(found.text, most)) - tokensOfCut);
      if (tokens > budget) return 'too_long';
    }
    held.release(Math.min(length, beginning) * bytesOfUnit);
  }
  if (!(await held.take(length * bytesOfUnit))) return 'overloaded';
  return texts.read(docs);
}
