import type { Random } from './random.ts';

/**
 * A writing system for generated answers. Phrases consist of `lone`, `first`, `fill` and `last`, which clean text never
 * combines in the same way, so that no phrase contains another phrase and none occurs by chance.
 */
type Script = {
  readonly words: readonly string[];
  /** The phrase of one character. */
  readonly lone: string;
  readonly first: string;
  readonly fill: readonly string[];
  readonly last: string;
};

export type ScriptName = 'latin' | 'cyrillic' | 'cjk' | 'emoji';

const scripts: Readonly<Record<ScriptName, Script>> = {
  latin: {
    words: ['river ', 'of ', 'light, ', 'x', '"quoted" ', 'back\\slash\n', 'naïve ', 'e\u0301tude '],
    lone: '^',
    first: '<',
    fill: ['n', 'o', ' '],
    last: '>',
  },
  cyrillic: {
    words: ['река ', 'и ', 'свет, ', 'съёмка ', 'й\u0306 ', '№ 7\n'],
    lone: 'ѯ',
    first: 'Ѡ',
    fill: ['н', 'е'],
    last: 'ѡ',
  },
  cjk: {
    words: ['河の', '光', '。', 'かな', '한국', '\u3000', '漢字'],
    lone: '罪',
    first: '始',
    fill: ['禁', '止'],
    last: '終',
  },
  emoji: {
    words: ['🌊', '👩‍🚀', '🇫🇷', '👍🏽', ' ', '𝒳', '❤️'],
    lone: '💣',
    first: '🚦',
    fill: ['🚫', '🛑'],
    last: '🏁',
  },
};

export const scriptNames = Object.keys(scripts) as ScriptName[];

/** The longest phrase that windows must find, bytes (`gateway:stream:overlap-256`). */
const longestPhrase = 256;

export type Phrase = { readonly script: ScriptName; readonly text: string; readonly bytes: number };

/** A phrase of every length from one character to 256 bytes, in every script. */
export function allPhrases(): readonly Phrase[] {
  return scriptNames.flatMap((script) => {
    const { lone, first, fill, last } = scripts[script];
    const width = Buffer.byteLength(lone);
    return Array.from({ length: Math.floor(longestPhrase / width) }, (_, index) => {
      const inside = Array.from({ length: Math.max(0, index - 1) }, (_, at) => fill[at % fill.length]).join('');
      const text = index === 0 ? lone : `${first}${inside}${last}`;
      return { script, text, bytes: Buffer.byteLength(text) };
    });
  });
}

/** A phrase with a different end, which no rule may match. */
export function nearMiss(phrase: Phrase): string {
  const { words, last } = scripts[phrase.script];
  return `${phrase.text.slice(0, -last.length)}${words[0]}`;
}

/** Clean text of exactly this many bytes. */
export function cleanText(random: Random, script: ScriptName | 'mixed', bytes: number): string {
  let text = '';
  let left = bytes;
  while (left > 0) {
    const word = random.pick(scripts[script === 'mixed' ? random.pick(scriptNames) : script].words);
    const length = Buffer.byteLength(word);
    text += length <= left ? word : '.'.repeat(left);
    left -= Math.min(length, left);
  }
  return text;
}
