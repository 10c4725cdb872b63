import { createHash } from 'node:crypto';
import { tailOf } from '#checks/guard/join-seams';
import type { TextChannel } from '#checks/text-channel';
import { limits } from '#contracts/limits';
import { isApiWord } from '../judged/covered-texts.ts';
import type { DeltaTexts } from '../judged/delta-texts.ts';
import type { StreamTexts } from './stream-texts.ts';

/** A value that frames repeat: its text or the digest of it, and the bytes of the frames with it that were added to the text. */
type Run = { readonly value: RunValue; bytes: number; count: number };
type RunValue = { readonly text: string } | { readonly digest: string };
/** A word so far, and the last piece of it. */
type Word = { readonly all: string; readonly last: string };
type Pieces = DeltaTexts['pieces'];

/**
 * Maximum number of bytes of a repeated value that are judged as one text: each phrase that a window can find
 * completely is in these bytes.
 */
const runBytes = 2 * limits.overlapBytes;
/** Characters of all values that are kept as texts, because a digest costs more than a comparison in each frame. */
const keptCharacters = 65_536;
/** The most members with words that are not judged. */
const maxWords = 1_024;
/** White space without U+FEFF, which is invisible and which a fold can remove. */
const endsWithSpace = /[^\S\uFEFF]$/;
const beginsWithSpace = /^[^\S\uFEFF]/;

/** Adds the further texts of the frames of one stream to its texts (docs/design/judged-texts.md, "Streams"). */
export class FurtherTexts {
  readonly #texts: StreamTexts;
  readonly #runs = new Map<string, Run>();
  #keptCharacters = 0;
  /** The end of the last piece of each member of a delta. */
  readonly #lastPieces = new Map<string, string>();
  readonly #words = new Map<string, Word>();

  constructor(texts: StreamTexts) {
    this.#texts = texts;
  }

  /**
   * @returns the texts that grew or were repeated, each with its repeated value if it has one; undefined if a text is
   * not well-formed, or the stream has too many texts
   */
  append(pieces: Pieces): ReadonlyMap<TextChannel, object | undefined> | undefined {
    const grown = new Map<TextChannel, object | undefined>();
    for (const [path, group] of Map.groupBy(pieces, (one) => one.path)) {
      const channel = this.#texts.furtherAt(path);
      if (channel === undefined) return undefined;
      const run = group[0]?.reading === 'value' ? this.#runOf(path, group) : undefined;
      if (run === undefined || run.count < 2 || run.bytes < runBytes) {
        for (const { text } of group) if (!this.#texts.append(channel, text)) return undefined;
        if (run !== undefined) {
          run.bytes += group.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
          run.count += 1;
          if (run.count > 1) channel.settle();
        }
      }
      grown.set(channel, run);
    }
    return grown;
  }

  /** The run of a value: a new run if the previous frame had another value. */
  #runOf(path: string, group: Pieces): Run {
    const text = group.map((one) => one.text).join('');
    const known = this.#runs.get(path);
    if (known !== undefined) {
      if ('text' in known.value ? known.value.text === text : known.value.digest === digestOf(text)) return known;
      if ('text' in known.value) this.#keptCharacters -= known.value.text.length;
    }
    const isKept = this.#keptCharacters + text.length <= keptCharacters;
    if (isKept) this.#keptCharacters += text.length;
    const run: Run = { value: isKept ? { text } : { digest: digestOf(text) }, bytes: 0, count: 0 };
    this.#runs.set(path, run);
    return run;
  }

  /** Memory of the values that are kept as texts, bytes. */
  get heldBytes(): number {
    return 2 * this.#keptCharacters;
  }

  /**
   * The strings of members of the delta that follow another string without white space, so that a rule for whole words
   * does not find a word or a term with punctuation at that place. The preceding string is still held: its frame waits
   * for the next text.
   */
  glued(pieces: Pieces): readonly string[] {
    return pieces.flatMap(({ path, text, isString, inList, reading }) => {
      if (reading !== 'member' || isString !== true || inList === true) return [];
      const before = this.#lastPieces.get(path) ?? '';
      this.#lastPieces.set(path, tailOf(text));
      if (before === '' || text === '' || endsWithSpace.test(before) || beginsWithSpace.test(text)) return [];
      return [before.toWellFormed(), text.toWellFormed()];
    });
  }

  /**
   * Whether the joined words of each path are still single words, as values of the API are. A repeated word counts
   * once.
   */
  areWords(words: DeltaTexts['words']): boolean {
    for (const [path, group] of Map.groupBy(words, (one) => one.path)) {
      const last = group.map(({ text }) => text).join('');
      const before = this.#words.get(path);
      const all = before === undefined ? last : before.last === last ? before.all : before.all + last;
      if (!isApiWord(all) || (before === undefined && this.#words.size >= maxWords)) return false;
      this.#words.set(path, { all, last });
    }
    return true;
  }
}

/** Of text that may have half a surrogate pair. */
function digestOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64');
}
