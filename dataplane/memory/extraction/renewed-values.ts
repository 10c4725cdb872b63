import { analyse } from '#search/analysis/analyse';
import { type ValueKind, valueKinds } from './value-kinds.ts';

/** Words around a value that replaces another value. */
export type RenewalLanguage = {
  /** Words that mark something as true now but not before: "now", "these days". */
  readonly renews: RegExp;
  /** Words for a change from one thing to another that name the new thing: "switched to". */
  readonly switches: RegExp;
  /** Words for a gift from others that replaces an earlier thing: "they gave us". */
  readonly gives: RegExp;
  /** Words followed by the old value: "instead of". */
  readonly namesOld: RegExp;
  /** Words that contrast one value with another: "instead". */
  readonly contrasts: RegExp;
  readonly negates: RegExp;
  /** Words for a temporary state, such as "today", and for an unchanged one, such as "still". */
  readonly passes: RegExp;
  /** The speaker in the sentence, or a beginning that leaves the speaker out. */
  readonly own: RegExp;
  /** Other names of the owners of values: "I got a raise" is about a salary. */
  readonly names: readonly (readonly [words: RegExp, name: string])[];
  /** A plural at the beginning of a sentence, which is about the things of everybody: "salaries went up to 2,000". */
  readonly general: RegExp;
  /** Terms of a switch itself, such as "swapped", "the old one" and "last year": any other says that it is of something else. */
  readonly changing: ReadonlySet<string>;
  /** Terms that do not identify the owner of a value, and verbs for a change of it. */
  readonly generic: ReadonlySet<string>;
  /**
   * Terms that can follow a thing; before any other term the thing is only a description: "a Mac charger", "Polish
   * beer".
   */
  readonly behind: ReadonlySet<string>;
};

/** A value that replaces another value of its kind, in a sentence that need not name the old value. */
export type RenewedValue = StatedValues & {
  readonly isSwitch: boolean;
  readonly isGiven: boolean;
  readonly namesOld: boolean;
  /** The sentence marks the value as true now but not before. */
  readonly renews: boolean;
  /** The sentence states since when the value is true, or that it lasts. */
  readonly isDated: boolean;
  /** The sentence can name the old value together with the new value. */
  readonly contrasts: boolean;
  readonly negates: boolean;
  /** The sentence is about the speaker. */
  readonly isOwn: boolean;
  /** Words introduce the sentence as a correction. */
  readonly corrects: boolean;
  /** The plural with which the sentence begins, in lower case. */
  readonly general: string | undefined;
};

type StatedPart = { readonly values: Set<string>; readonly about: string[] };
type StatedValues = {
  /** The text in lower case. */
  readonly said: string;
  readonly values: ReadonlyMap<ValueKind, ReadonlySet<string>>;
  readonly numbers: ReadonlySet<string>;
  /** The words that follow numbers, such as "kg". */
  readonly units: ReadonlySet<string>;
  /** The remaining terms, which identify the owner of the values: no values, units or generic words. */
  readonly about: readonly string[];
  /** The terms of each part of the sentence: values of kinds, and of those that remain. */
  readonly parts: readonly StatedPart[];
  readonly language: RenewalLanguage;
};

const number = /^\d+(?:st|nd|rd|th)?$/;
const weight = /^(?:weight|my: (?:weight|вес)$)/;
const weightUnits: ReadonlySet<string> = new Set(analyse('kg kilo kilos кг кило килограмм килограмма килограммов'));

/** The value that a sentence of the speaker renews; undefined without words for a change, and for a temporary state. */
export function renewedValue(language: RenewalLanguage, text: string, corrects: boolean): RenewedValue | undefined {
  if (language.passes.test(text)) return undefined;
  const contrasts = language.contrasts.test(text);
  const renews = language.renews.test(text);
  const isSwitch = language.switches.test(text) || (contrasts && renews);
  const isGiven = language.gives.test(text);
  const isChange = isSwitch || isGiven || contrasts || renews || corrects;
  if (!isChange) return undefined;
  const stated = readValues(language, text);
  if (stated.values.size + stated.numbers.size === 0) return undefined;
  const negates = language.negates.test(text);
  const isOwn = language.own.test(text);
  const isDated = renews || [...stated.values.keys()].some((kind) => kind.topics === undefined);
  const namesOld = language.namesOld.test(text);
  return {
    ...{ ...stated, isSwitch, isGiven, namesOld, renews, isDated },
    ...{ contrasts: contrasts || negates, negates, isOwn, corrects },
    general: language.general.exec(text)?.[1]?.toLowerCase(),
  };
}

/** Dates that `resolveDates` added. */
const addedDates = / \((?:week of )?\d{4}(?:-\d{2}){0,2}\)/g;

function readValues(language: RenewalLanguage, text: string): StatedValues {
  const values = new Map<ValueKind, Set<string>>();
  const numbers = new Set<string>();
  const units = new Set<string>();
  const about: string[] = [];
  const parts: StatedPart[] = [];
  const named = language.names.reduce((result, [words, name]) => result.replace(words, name), text);
  for (const part of named.replace(addedDates, '').split(/(?<![,.;:!?()–—])[,.;:!?()–—]+(?=\s|$)/u)) {
    const terms = analyse(part);
    const stated: StatedPart = { values: new Set(), about: [] };
    parts.push(stated);
    for (const [at, term] of terms.entries()) readTerm(term, terms, at, stated);
  }
  return { said: text.toLowerCase(), values, numbers, units, about, parts, language };

  function readTerm(term: string, terms: readonly string[], at: number, stated: StatedPart): void {
    if (number.test(term)) {
      numbers.add(`${Number.parseInt(term, 10)}`);
      return;
    }
    if (language.generic.has(term)) return;
    const isUnit = number.test(terms[at - 1] ?? '');
    if (isUnit) units.add(term);
    // "May" is a month, and "may" is a verb.
    const kinds = term === 'may' && !text.includes('May') ? [] : valueKinds.filter((kind) => kind.values.has(term));
    const describes = isBefore(terms[at + 1]);
    for (const kind of kinds) {
      stated.values.add(kind.values.get(term) ?? term);
      if (kind.topics !== undefined && describes) continue;
      values.set(kind, (values.get(kind) ?? new Set()).add(kind.values.get(term) ?? term));
    }
    const isTime = kinds.some(({ topics }) => topics === undefined);
    if (isUnit || isTime) return;
    about.push(term);
    stated.about.push(term);
  }

  function isBefore(next: string | undefined): boolean {
    return next !== undefined && !number.test(next) && !language.generic.has(next) && !language.behind.has(next);
  }
}

type StatedMemory = { readonly text: string; readonly topic: string | null };
const read = new WeakMap<RenewalLanguage, WeakMap<StatedMemory, StatedValues>>();

/** The values of a memory, which one add compares with all its sentences. */
function valuesOf(language: RenewalLanguage, memory: StatedMemory): StatedValues {
  const ofLanguage = read.get(language) ?? new WeakMap<StatedMemory, StatedValues>();
  read.set(language, ofLanguage);
  const known = ofLanguage.get(memory) ?? readValues(language, memory.text);
  ofLanguage.set(memory, known);
  return known;
}

/** Topics whose value changes only by a correction. */
const lasting = /^(?:name of|birthday|age|origin|native language|degree|lived|happened|formerly)/;

/**
 * How well a memory fits a sentence that renews a value; 0 if it does not fit. A memory fits if it has another value of
 * the same kind, and if the sentence is about nothing else.
 */
export function renewalFit(renewed: RenewedValue, memory: StatedMemory): number {
  const topic = memory.topic ?? '';
  if (topic === 'name' || (lasting.test(topic) && !renewed.corrects)) return 0;
  const known = valuesOf(renewed.language, memory);
  if (isGeneral(renewed, known)) return 0;
  const shared = renewed.about.filter((term) => known.about.includes(term)).length;
  if (isOtherThing(renewed, known, topic)) return 1 + shared;
  if (shared < renewed.about.length) return 0;
  const hasOtherNumber = isOther(renewed, renewed.numbers, known.numbers);
  const hasUnit = meets(renewed.units, known.units);
  // Only a weight can be recognized by its unit alone: "down to 75 kg now". "Sorry, I meant Friday" can be about
  // anything.
  const isKnown = weight.test(topic) && hasUnit && !renewed.units.isDisjointFrom(weightUnits);
  if (shared === 0 && !isKnown) return 0;
  const hasOtherTime = [...renewed.values].some(([kind, values]) => {
    return kind.topics === undefined && isOther(renewed, values, known.values.get(kind));
  });
  return hasOtherTime || (hasOtherNumber && (renewed.units.size === 0 || hasUnit)) ? 1 + shared : 0;
}

/** Whether the sentence is about the numbers of everybody, and the memory about that of one: "salaries went up to 2,000". */
function isGeneral({ general, values }: RenewedValue, known: StatedValues): boolean {
  return general !== undefined && values.size === 0 && !known.said.includes(general);
}

/** Whether a statement of the sentence itself names the new value, and is not about something else. */
export function isOfKind({ values, numbers, language }: RenewedValue, stated: StatedMemory): boolean {
  const own = valuesOf(language, stated);
  const hasValue = [...values.keys()].some(
    (kind) => own.values.has(kind) && (kind.topics === undefined || kind.topics.test(stated.topic ?? '')),
  );
  return hasValue || meets(numbers, own.numbers);
}

/** Terms of which a fitting memory has at least one. */
export function termsOfFitting({ about, units, values }: RenewedValue): readonly string[] {
  const ofKinds = [...values.keys()].flatMap((kind) => (kind.topics === undefined ? [] : [...kind.values.keys()]));
  return [...about, ...units, ...ofKinds];
}

/** Whether the speaker switched to a different thing of the same kind as the known one: "they gave us Macs". */
function isOtherThing(renewed: RenewedValue, known: StatedValues, topic: string): boolean {
  if (!renewed.isOwn) return false;
  const isOfSwitch = (term: string): boolean => renewed.language.changing.has(term) || known.about.includes(term);
  return [...renewed.values].some(([kind, values]) => {
    const isCued = (term: string): boolean => kind.cues?.has(term) === true;
    const isNew = renewed.renews && renewed.about.some(isCued);
    const isChanged = renewed.isSwitch || isNew || (renewed.isGiven && kind.isGiven === true);
    if (!isChanged || kind.topics?.test(topic) !== true || (kind.isOfTheMoment && !renewed.isDated)) return false;
    // "Tom gave us a lift in his Tesla" and "switched to English for the meeting" say more than that.
    // A part that names only the old value is the reason: "back on Chrome, Firefox was too slow".
    const old = known.values.get(kind) ?? new Set();
    const about = renewed.parts.flatMap((part) =>
      part.values.size > 0 && part.values.isSubsetOf(old) ? [] : part.about,
    );
    if (!about.every((term) => kind.values.has(term) || isCued(term) || isOfSwitch(term))) return false;
    const isNamed =
      kind.common === undefined || isNew || meets(values, old) || !about.some((term) => isCommon(kind, term, known));
    return isNamed && isOther(renewed, values, known.values.get(kind));
  });
}

/** Whether a term of the sentence is an everyday word, but not the known value. */
function isCommon(kind: ValueKind, term: string, known: StatedValues): boolean {
  return kind.common?.has(term) === true && known.values.get(kind)?.has(kind.values.get(term) ?? term) !== true;
}

/**
 * Whether the memory has one value and the sentence names another. A sentence that contrasts values names both; a
 * sentence that only negates another value says nothing about the known value.
 */
function isOther(
  { isSwitch, isGiven, namesOld, renews, corrects, contrasts, negates }: RenewedValue,
  named: ReadonlySet<string>,
  known: ReadonlySet<string> = new Set(),
): boolean {
  if (known.size !== 1 || named.isSubsetOf(known)) return false;
  if (meets(named, known)) return isSwitch || isGiven || contrasts;
  return (isSwitch || isGiven || renews || corrects) && !namesOld && !negates;
}

function meets(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return !some.isDisjointFrom(others);
}
