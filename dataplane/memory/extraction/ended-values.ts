import { analyse } from '#search/analysis/analyse';
import { ofEnglishSpeaker, ofRussianSpeaker } from './changed-things.ts';

/**
 * Words after which a value follows that holds no longer, up to the end of the phrase: "no longer at Volvo", "gave up
 * on Polish", "instead of tea". `isWeak` words say so only where the sentence also says what holds now.
 */
type EndingWords = {
  readonly before: string;
  readonly after?: string;
  /** Other topics than these cannot end with the words. */
  readonly topics?: RegExp;
  readonly isWeak?: true;
};
type EndingLanguage = {
  readonly endings: readonly EndingWords[];
  /** Matches words of the speaker about a change. */
  readonly ofSpeaker: (words: string) => RegExp;
  /** Words that end a phrase. */
  readonly boundary: string;
  /** Words that never belong to the value of a fact, in lower case. */
  readonly generic: ReadonlySet<string>;
  /** Words of a sentence that says what holds now. */
  readonly present: RegExp;
};

/** A value that a sentence states to hold no longer, as stemmed terms. */
export type EndedValue = { readonly terms: readonly string[]; readonly topics: RegExp | undefined };

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const work = /^(?:employer|job|studies)/;
const owned = /^(?:car|has|my|uses)/;

export const englishEndings: EndingLanguage = {
  ofSpeaker: ofEnglishSpeaker,
  endings: [
    { before: 'no longer|no more|used to' },
    {
      before: "(?:do|does|did|am|is|are|was|'m|have|has)(?:n't| not)|don't|not|never",
      after: 'any ?more|any longer|after all',
    },
    {
      before:
        '(?:stopped|quit|gave up(?: on)?|given up(?: on)?|dropped|ditched|abandoned|went off|gone off|got rid of|replaced|swapped|traded(?: in)?|sold|over with|done with|fed up with|tired of|over|resigned from|moved (?:away|out) (?:from|of)|graduated from|broke up with|divorced)',
    },
    { before: 'left|lost|quit', topics: work },
    { before: 'left', after: 'for good|behind' },
    { before: 'gave', after: 'up' },
    { before: '(?:switched|changed|moved|transferred|went|converted|upgraded) from', after: 'to|into' },
    {
      before: 'the|my|our|that',
      after: 'broke down|died|is gone|is history|was sold|was stolen|got stolen',
      topics: owned,
    },
    { before: "instead of|rather than|not|i said|i wrote|i typed|isn't|wasn't", isWeak: true },
  ],
  boundary:
    "and|but|so|because|now|these|since|before|last|this|I|I'm|I've|it|it's|we|is|are|was|by|instead|either|just|anyway|for good|after|any|anymore|for|with|actually|sorry|up|behind",
  generic: wordsOf(
    'a an the my our that this to at in on as with of for from be being do doing does did work working live living learn learning study studying drink drinking eat eating like liking love loving prefer drive driving play playing practice practise practicing use using call called calling name allergic allergy smoke smoking speak speaking go going have having own job company old',
  ),
  present:
    /\b(?:now|these days|nowadays|from now on|actually|it(?:'s| is)|name|call|correction|sorry|meant|wrong|mistake|but)\b/i,
};

export const russianEndings: EndingLanguage = {
  ofSpeaker: ofRussianSpeaker,
  endings: [
    { before: '(?:больше|уже|теперь) не(?: \\p{L}+(?:ю|у|юсь|усь))?|раньше' },
    { before: 'не (?:зови|называй)(?:те)? меня' },
    {
      before:
        '(?:за)?бросил[аи]?|перестал[аи]?|прекратил[аи]?|разлюбил[аи]?|продал[аи]?|(?:сменил|поменял|обменял)[аи]?|отказал(?:ся|ась|ись) от|надоел[аои]?(?: мне)?',
    },
    { before: '(?:завязал[аи]?|закончил[аи]?|покончил[аи]?|расстал(?:ся|ась)) (?:с|со)' },
    { before: '(?:уш(?:ел|ла|ли)|уволил(?:ся|ась)|отчислил(?:ся|ась)) (?:из|с|со|от)', topics: work },
    { before: '(?:уехал|переехал)[аи]? из', topics: /^residence/ },
    { before: '(?:переш(?:ел|ла|ли)|пересел[аи]?|перевел(?:ся|ась)) (?:с|со|из)', after: 'на|в' },
    { before: 'с|со', after: 'покончено' },
    { before: '', after: '(?:мне |нам )?надоел[аои]?|сломал(?:ся|ась) совсем' },
    { before: 'нет|нет аллергии на|аллергии на', after: 'нет', topics: /^(?:allergy|health)/ },
    { before: 'больше нет|нет', topics: /^(?:allergy|health|has)/ },
    { before: 'вместо|а не|не', isWeak: true },
  ],
  boundary:
    'и|а|но|теперь|сейчас|потому|так|больше|я|мы|это|есть|зато|учу|пью|живу|работаю|учусь|езжу|занимаюсь|люблю|увлекаюсь|стал|стала|зови|уже|давно|покончено|надоел|надоела|надоело|нет|мне',
  generic: wordsOf(
    'в во на из с со к у по от для за мой моя мое мои наш наша эта этот эту того ту быть был была было жить живу работать работаю работал работала учить учу изучать изучаю учиться учусь пить пью есть ем любить люблю ездить езжу играть играю заниматься занимаюсь увлекаться звать зовут зови аллергия аллергии курить имя меня мне',
  ),
  present:
    /(?<![\p{L}])(?:теперь|сейчас|на самом деле|а не|зовут|зови\p{L}*|поправка|ошиб\p{L}+|уже|с этого|вместо|аллергия|мне)(?![\p{L}])/iu,
};

/**
 * The values that a sentence of the speaker states to hold no longer.
 * @param text the sentence with short forms written out
 * @param saysMore whether the sentence also makes a statement
 */
export function endedValues(language: EndingLanguage, text: string, saysMore: boolean): readonly EndedValue[] {
  const found: EndedValue[] = [];
  for (const { pattern, topics, isWeak } of patternsOf(language)) {
    if (isWeak && !saysMore && !language.present.test(text)) continue;
    for (const { groups } of text.matchAll(pattern)) {
      const words = (groups?.['value'] ?? '').split(' ').filter((word) => !language.generic.has(word.toLowerCase()));
      // "went off borscht goulash is better": the last word is the subject of what follows.
      const own = groups?.['next'] === undefined || words.length < 2 ? words : words.slice(0, -1);
      const ended = analyse(own.join(' '));
      if (ended.length > 0) found.push({ terms: ended, topics });
    }
  }
  return found;
}

/** Whether a memory states a value that has ended: each term of the value occurs in it. */
export function hasEnded(ended: readonly EndedValue[], memory: StatedMemory): boolean {
  const own = termsOf(memory);
  return ended.some(
    ({ terms: all, topics }) => topics?.test(memory.topic ?? '') !== false && all.every((term) => own.has(term)),
  );
}

type StatedMemory = { readonly text: string; readonly topic: string | null };
const analysed = new WeakMap<StatedMemory, ReadonlySet<string>>();

/** The terms of a memory, which one add compares with the values of all its sentences. */
function termsOf(memory: StatedMemory): ReadonlySet<string> {
  const known = analysed.get(memory);
  if (known !== undefined) return known;
  const terms = new Set(analyse(memory.text));
  analysed.set(memory, terms);
  return terms;
}

type EndingPattern = { readonly pattern: RegExp; readonly topics: RegExp | undefined; readonly isWeak: boolean };
const compiled = new WeakMap<EndingLanguage, readonly EndingPattern[]>();

function patternsOf(language: EndingLanguage): readonly EndingPattern[] {
  const known = compiled.get(language);
  if (known !== undefined) return known;
  const { endings, boundary, ofSpeaker } = language;
  const word = `(?!(?:${boundary})(?![\\p{L}]))[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*`;
  const patterns = endings.map(({ before, after, topics, isWeak }): EndingPattern => {
    const start = before === '' ? '' : `(?:${before}) `;
    const end = after === undefined ? '(?![\\p{L}\\p{N}])' : ` (?:${after})(?![\\p{L}])`;
    const phrase = `${start}(?<value>${word}(?: ${word}){0,5})${end}(?<next> (?:is|are)(?![\\p{L}]))?`;
    // A correction is often about another one: "her name is Ida, not Ada".
    const { source } = isWeak === true ? new RegExp(`(?<![\\p{L}])${phrase}`, 'u') : ofSpeaker(phrase);
    return { pattern: new RegExp(source, 'giu'), topics, isWeak: isWeak === true };
  });
  compiled.set(language, patterns);
  return patterns;
}
