import { analyse } from '#search/analysis/analyse';
import { type ValueKind, valueKinds } from './value-kinds.ts';

/** Words around a value that takes the place of another one. */
export type RenewalLanguage = {
  /** Words that say that something is so now and was not before: "now", "these days". */
  readonly renews: RegExp;
  /** Words for a change from one thing to another, of which the new one is named: "switched to". */
  readonly switches: RegExp;
  /** Words for what others give to the speaker, in place of what was there. */
  readonly gives: RegExp;
  /** Words behind which the old value stands: "instead of". */
  readonly namesOld: RegExp;
  /** Words that contrast a value with another one: "instead". */
  readonly contrasts: RegExp;
  readonly negates: RegExp;
  /** Words for what passes, such as "today", and for what has not changed, such as "still". */
  readonly passes: RegExp;
  /** The speaker in the sentence, or a beginning that leaves the speaker out. */
  readonly own: RegExp;
  /** Words with which a person asks to be called in another way, and the `name` behind them. */
  readonly asksName: RegExp;
  /** Terms without meaning for what a value belongs to, with verbs for a change of it. */
  readonly generic: ReadonlySet<string>;
  /** Terms that can stand behind a thing; before any other it only describes one: "a Mac charger", "Polish beer". */
  readonly behind: ReadonlySet<string>;
};

/** A value that takes the place of another one of its kind, in a sentence that need not name the old value. */
export type RenewedValue = StatedValues & {
  readonly isSwitch: boolean;
  readonly isGiven: boolean;
  readonly namesOld: boolean;
  /** The sentence says that the value is so now and was not before. */
  readonly renews: boolean;
  /** The sentence can name the old value beside the new one. */
  readonly contrasts: boolean;
  readonly negates: boolean;
  /** The sentence is about the speaker. */
  readonly isOwn: boolean;
  /** Words introduce the sentence as a correction. */
  readonly corrects: boolean;
  /** Names in a request to be called so, in lower case. */
  readonly names: readonly string[];
};

type StatedValues = {
  readonly values: ReadonlyMap<ValueKind, ReadonlySet<string>>;
  readonly numbers: ReadonlySet<string>;
  /** The words behind numbers, such as "kg". */
  readonly units: ReadonlySet<string>;
  /** The terms that are no values, units or words without meaning: what the values belong to. */
  readonly about: readonly string[];
  readonly language: RenewalLanguage;
};

const number = /^\d+(?:st|nd|rd|th)?$/;
/** Units of what passes: "5 minutes now" is about none of the person's habits. */
const passingUnits: ReadonlySet<string> = new Set(
  analyse(
    'second seconds minute minutes hour hours day days week weeks month months year years percent time times секунда секунд минута минуты минут час часа часов день дня дней неделя недели недель месяц месяца месяцев год года лет процент процента процентов раз раза',
  ),
);
/** A longer sentence is no request to be called in another way. */
const longestRequest = 60;

/** The value that a sentence of the speaker renews; undefined without words for it, and for what passes. */
export function renewedValue(language: RenewalLanguage, text: string, corrects: boolean): RenewedValue | undefined {
  if (language.passes.test(text)) return undefined;
  const contrasts = language.contrasts.test(text);
  const renews = language.renews.test(text);
  const isSwitch = language.switches.test(text) || (contrasts && renews);
  const asked = text.length > longestRequest ? undefined : language.asksName.exec(text)?.groups?.['name'];
  const names = asked === undefined ? [] : namesIn(asked);
  const isGiven = language.gives.test(text);
  const isChange = isSwitch || isGiven || contrasts || renews || corrects || names.length > 0;
  if (!isChange) return undefined;
  const stated = readValues(language, text);
  if (stated.values.size + stated.numbers.size + names.length === 0) return undefined;
  const negates = language.negates.test(text);
  const isOwn = language.own.test(text);
  const namesOld = language.namesOld.test(text);
  return {
    ...{ ...stated, isSwitch, isGiven, namesOld, renews },
    ...{ contrasts: contrasts || negates, negates, isOwn, corrects, names },
  };
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\p{L}])\p{Lu}\p{L}{2,}(?![\p{L}'’])/gu)].map(([name]) =>
    name.toLowerCase().replaceAll('ё', 'е'),
  );
}

/** Dates that `resolveDates` added. */
const addedDates = / \((?:week of )?\d{4}(?:-\d{2}){0,2}\)/g;

function readValues(language: RenewalLanguage, text: string): StatedValues {
  const values = new Map<ValueKind, Set<string>>();
  const numbers = new Set<string>();
  const units = new Set<string>();
  const about: string[] = [];
  for (const part of text.replace(addedDates, '').split(/[,.;:!?()–—]+(?=\s|$)/u)) {
    const terms = analyse(part);
    for (const [at, term] of terms.entries()) readTerm(term, terms, at);
  }
  return { values, numbers, units, about, language };

  function readTerm(term: string, terms: readonly string[], at: number): void {
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
      if (kind.topics !== undefined && describes) continue;
      values.set(kind, (values.get(kind) ?? new Set()).add(kind.values.get(term) ?? term));
    }
    const isTime = kinds.some(({ topics }) => topics === undefined);
    if (!isUnit && !isTime) about.push(term);
  }

  function isBefore(next: string | undefined): boolean {
    return next !== undefined && !number.test(next) && !language.generic.has(next) && !language.behind.has(next);
  }
}

type StatedMemory = { readonly text: string; readonly topic: string | null };

/** Topics whose value changes only by a correction. */
const lasting = /^(?:name|birthday|age|origin|native language|degree|lived|happened|formerly)/;

/**
 * How well a memory fits as the one whose value a sentence renews; 0 if it does not. It fits if it has another value of the
 * same kind, and if the sentence is about nothing else than the memory.
 */
export function renewalFit(renewed: RenewedValue, memory: StatedMemory): number {
  const topic = memory.topic ?? '';
  if (topic === 'name') return isShortName(renewed.names, memory.text) ? 1 : 0;
  if (lasting.test(topic) && !renewed.corrects) return 0;
  const known = readValues(renewed.language, memory.text);
  const shared = renewed.about.filter((term) => known.about.includes(term)).length;
  if (isOtherThing(renewed, known, topic)) return 1 + shared;
  if (shared < renewed.about.length) return 0;
  const hasOtherNumber = isOther(renewed, renewed.numbers, known.numbers);
  const hasUnit = meets(renewed.units, known.units);
  const isMeasured = hasUnit && renewed.units.isDisjointFrom(passingUnits);
  // Where the sentence leaves out what the value belongs to, its unit or a correction says it: "down to 75 kg now".
  if (shared === 0 && !renewed.corrects && !(hasOtherNumber && isMeasured)) return 0;
  const hasOtherTime = [...renewed.values].some(([kind, values]) => {
    return kind.topics === undefined && isOther(renewed, values, known.values.get(kind));
  });
  return hasOtherTime || (hasOtherNumber && (renewed.units.size === 0 || hasUnit)) ? 1 + shared : 0;
}

/** Terms of which a memory that fits has one at least, unless words introduce a correction or ask for another name. */
export function termsOfFitting({ about, units, values }: RenewedValue): readonly string[] {
  const ofKinds = [...values.keys()].flatMap((kind) => (kind.topics === undefined ? [] : [...kind.values.keys()]));
  return [...about, ...units, ...ofKinds];
}

/** Whether the speaker switched to another thing of a kind of which the memory states one: "they gave us Macs". */
function isOtherThing(renewed: RenewedValue, known: StatedValues, topic: string): boolean {
  if (!renewed.isOwn) return false;
  return [...renewed.values].some(([kind, values]) => {
    const isChanged = renewed.isSwitch || (renewed.isGiven && kind.isGiven === true);
    return isChanged && kind.topics?.test(topic) === true && isOther(renewed, values, known.values.get(kind));
  });
}

/**
 * Whether one value is known and another is named. A sentence that contrasts values names both; one that negates only another
 * value says nothing about the known one.
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

const nameStart = 3;

/** Whether one of the names is a short or long form of the known one: "Steph" and "Stephanie", «Катя» and «Екатерина». */
function isShortName(names: readonly string[], text: string): boolean {
  const known = namesIn(text);
  if (names.some((name) => known.includes(name))) return false;
  return names.some((name) => known.some((one) => one.includes(name.slice(0, nameStart))));
}
