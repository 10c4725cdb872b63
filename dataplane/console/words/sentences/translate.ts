/**
 * Sentences of the APIs in English, without a full stop, and their translations. A slot is `{x}` for one word such as a
 * name or a number, `{x+}` for words that stay unchanged such as a list of names, and `{x*}` for text that is
 * translated itself. A translation has `{x}` for each slot.
 */
export type SentenceTable = Readonly<Record<string, string>>;

/** A part of a text; a part without a translation is English. */
type SentencePart = { readonly text: string; readonly isEnglish: boolean };

type Parts = readonly SentencePart[];
type Slot = { readonly name: string; readonly kind: '' | '+' | '*' };
type Template = {
  /** The English text around the slots: one text more than slots. */
  readonly literals: readonly string[];
  readonly slots: readonly Slot[];
  /** Characters of the literals. */
  readonly weight: number;
  readonly translation: string;
};

/** Longest text that is translated, characters; a condition has at most 32,768. */
const longestText = 4_096;
/**
 * Maximum number of levels of texts within texts, and maximum number of sentences and clauses of one text: these limits
 * bound the time for an untrusted text.
 */
const mostLevels = 6;
const mostSentences = 16;
const mostClauses = 50;
/** Maximum number of different texts within one text that are translated. */
const mostTexts = 500;
/**
 * A template with fewer fixed characters matches many texts: it is used only for a single clause whose slots are
 * translated, too.
 */
const leastWeight = 8;
/** A word that is not at the end of a clause. */
const word = /^\S*[^\s.,:;]$/;
/** The boundary between two sentences. */
const sentenceEnd = /(?<=[.!?]) (?=[A-Z0-9])/;
/** The boundary between two sentences or clauses. */
const clauseEnd = /[.!?] [A-Z0-9]|; | · /;

/**
 * Templates by the first character of their text in lower case; templates that begin with a slot are in every list,
 * too.
 */
type Index = { readonly byFirst: ReadonlyMap<string, readonly Template[]>; readonly others: readonly Template[] };

/** The state of one translation: the templates, and the results for the texts within the text. */
type Translation = { readonly index: Index; readonly found: Map<string, Found> };

const indexes = new WeakMap<SentenceTable, Index>();

/** Translates the sentences of a text that the table has. */
export function translate(table: SentenceTable, text: string): Parts {
  if (text.length > longestText) return [{ text, isEnglish: true }];
  const index = indexes.get(table) ?? indexOf(table);
  indexes.set(table, index);
  return textParts({ index, found: new Map() }, text, 0).parts;
}

/** The templates with the longest fixed text first, because they are the most specific. */
function indexOf(table: SentenceTable): Index {
  const all = Object.entries(table)
    .map(([english, translation]): Template => {
      const pieces = english.split(/\{([a-z]+[+*]?)\}/);
      const literals = pieces.filter((_, at) => at % 2 === 0);
      const slots = pieces.filter((_, at) => at % 2 === 1).map(slotOf);
      return { literals, slots, weight: literals.join('').length, translation };
    })
    .toSorted((one, other) => other.weight - one.weight);
  const firstOf = ({ literals: [first = ''] }: Template): string => first.charAt(0).toLowerCase();
  const firsts = new Set(all.map(firstOf));
  const listOf = (first: string) => all.filter((one) => firstOf(one) === first || firstOf(one) === '');
  return { byFirst: new Map([...firsts].map((first) => [first, listOf(first)])), others: listOf('') };
}

function slotOf(text: string): Slot {
  const kind = text.endsWith('+') ? '+' : text.endsWith('*') ? '*' : '';
  return { name: kind === '' ? text : text.slice(0, -1), kind };
}

/**
 * Translated parts, and whether each of their sentences matched a template: a name, which no template matches, is the
 * same in every language.
 */
type Found = { readonly parts: Parts; readonly isTranslated: boolean };

function englishText(text: string): Found {
  return { parts: [{ text, isEnglish: true }], isTranslated: false };
}

function textParts(translation: Translation, text: string, level: number): Found {
  const known = translation.found.get(text);
  if (known !== undefined) return known;
  if (level > mostLevels || translation.found.size >= mostTexts) return englishText(text);
  const found = better(wholeText(translation, text, level), () => severalSentences(translation, text, level));
  translation.found.set(text, found);
  return found;
}

/** The result with less English text; the first result if both have the same amount. */
function better(one: Found | undefined, makeOther: () => Found): Found {
  if (one === undefined) return makeOther();
  const left = englishLength(one);
  if (left === 0) return one;
  const other = makeOther();
  return englishLength(other) < left ? other : one;
}

function englishLength({ parts }: Found): number {
  return parts.reduce((sum, { text, isEnglish }) => sum + (isEnglish ? text.length : 0), 0);
}

/** Translates the text as one sentence, a name, a number or a code; undefined if it is something else. */
function wholeText(translation: Translation, text: string, level: number): Found | undefined {
  const body = text.endsWith('.') ? text.slice(0, -1) : text;
  const isSeveral = clauseEnd.test(text);
  let partly: Found | undefined;
  const { byFirst, others } = translation.index;
  for (const template of byFirst.get(text.charAt(0).toLowerCase()) ?? others) {
    const isSpecific = template.weight >= leastWeight || template.slots.length === 0;
    const values = isSeveral && !isSpecific ? undefined : valuesOf(template, body);
    if (values === undefined) continue;
    const { parts, isTranslated } = filled(translation, { template, values, text, level });
    const isKnown = parts.every(({ isEnglish }) => !isEnglish);
    if (isKnown && (isSpecific || isTranslated)) return { parts, isTranslated: isSpecific };
    if (isSpecific) partly ??= { parts, isTranslated: false };
  }
  if (/\s/.test(text)) return partly;
  return { parts: [{ text, isEnglish: false }], isTranslated: false };
}

/** The values of the slots, if the text has the literals of the template in their order. */
function valuesOf({ literals, slots }: Template, text: string): readonly string[] | undefined {
  const [first = '', ...others] = literals;
  if (lowerFirst(text.slice(0, first.length)) !== lowerFirst(first)) return undefined;
  const values: string[] = [];
  let at = first.length;
  for (const [index, literal] of others.entries()) {
    const isLast = index === others.length - 1;
    const end = isLast ? text.length - literal.length : text.indexOf(literal, at + 1);
    if (end <= at || !text.startsWith(literal, end)) return undefined;
    const value = text.slice(at, end);
    const kind = slots[index]?.kind;
    if ((kind === '' && !word.test(value)) || (kind === '+' && clauseEnd.test(value))) return undefined;
    values.push(value);
    at = end + literal.length;
  }
  return at === text.length ? values : undefined;
}

type Filling = {
  readonly template: Template;
  readonly values: readonly string[];
  /** The whole English text with its capital letter and its full stop. */
  readonly text: string;
  readonly level: number;
};

/**
 * The translation with the values in its slots; it begins with a capital letter and ends with a full stop if the
 * English text does.
 */
function filled(translation: Translation, { template, values, text, level }: Filling): Found {
  const { slots } = template;
  const byName = new Map(slots.map((slot, at) => [slot.name, { ...slot, value: values[at] ?? '' }]));
  const isBegin = /^\p{Lu}/u.test(text) && /^\p{Ll}/u.test(template.literals[0] ?? '');
  let isTranslated = true;
  const parts = template.translation.split(/(\{[a-z]+\})/).flatMap((piece, at): Parts => {
    if (piece === '') return [];
    const slot = at % 2 === 1 ? byName.get(piece.slice(1, -1)) : undefined;
    if (slot === undefined) return [{ text: at === 0 && isBegin ? upperFirst(piece) : piece, isEnglish: false }];
    if (slot.kind !== '*') return [{ text: slot.value, isEnglish: false }];
    const inner = textParts(translation, slot.value, level + 1);
    isTranslated &&= inner.isTranslated;
    return inner.parts;
  });
  return { parts: text.endsWith('.') ? [...parts, { text: '.', isEnglish: false }] : parts, isTranslated };
}

/** Translates a text of several sentences. */
function severalSentences(translation: Translation, text: string, level: number): Found {
  const sentences = text.split(sentenceEnd);
  if (sentences.length > mostSentences) return englishText(text);
  const found: Found[] = [];
  for (const [at, one] of sentences.entries()) {
    const isOpen = at > 0 && at < sentences.length - 1;
    const rest = isOpen ? wholeText(translation, sentences.slice(at).join(' '), level) : undefined;
    if (rest !== undefined && englishLength(rest) === 0) return joined([...found, rest], ' ');
    found.push(better(wholeText(translation, one, level), () => severalClauses(translation, one, level)));
  }
  return joined(found, ' ');
}

/** Translates several clauses that are separated by semicolons, or by the dots of a refusal. */
function severalClauses(translation: Translation, text: string, level: number): Found {
  const between = text.includes(' · ') ? ' · ' : '; ';
  const clauses = text.split(between);
  if (clauses.length === 1 || clauses.length > mostClauses) return englishText(text);
  const clause = (one: string): Found =>
    wholeText(translation, one, level) ??
    (one.includes('; ') ? severalClauses(translation, one, level) : englishText(one));
  return joined(clauses.map(clause), between);
}

function joined(found: readonly Found[], between: string): Found {
  const parts = found.flatMap((one, at) =>
    at === 0 ? one.parts : [{ text: between, isEnglish: false }, ...one.parts],
  );
  return { parts, isTranslated: found.every(({ isTranslated }) => isTranslated) };
}

function lowerFirst(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}

function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
