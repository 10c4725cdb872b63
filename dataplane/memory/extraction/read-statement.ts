import { analyse } from '#search/analysis/analyse';
import { endedInClauses } from './clause-endings.ts';
import { disownsNext, disownsStatement } from './disowned.ts';
import { type EndedValue, endedValues } from './ended-values.ts';
import { english } from './english-statements.ts';
import { endedOfTopic } from './named-topics.ts';
import { endedOfPerson } from './relatives.ts';
import { type RenewedValue, renewedValue } from './renewed-values.ts';
import { introducesSpeech } from './reported-clauses.ts';
import { russian } from './russian-statements.ts';
import type { ChangedTopic, Statement, StatementForm, StatementLanguage } from './statement.ts';

/** Longest clause that is read; a longer clause is a text about another subject. */
const longestClause = 300;
/** Maximum number of terms of a value. */
const mostValueTerms = 40;

/** Dates that `resolveDates` added. */
const addedDates = / \((?:week of )?\d{4}(?:-\d{2}){0,2}\)/g;
const quoted = /["«“][^"»”]{40,}["»”]/;

/**
 * The statement that a clause makes about its speaker; undefined for small talk, questions, wishes, conditions, reports
 * of the words of others, and any other form that this reader does not support.
 */
export function readStatement(clause: string): Statement | undefined {
  const text = clause.replace(addedDates, '').trim();
  if (text.length > longestClause || text.endsWith('?') || quoted.test(text)) return undefined;
  const language = languageOf(text);
  const plain = plainText(language, text).replace(language.fillers, '').replace(present, '');
  // Text after a comma is often a remark: "I am a nurse, nothing fancy".
  const whole = readIn(language, plain) ?? readIn(language, plain.replace(adverbs, ''));
  if (whole !== undefined || !isStated(language, plain)) return whole;
  const short = plain.replace(remark, '');
  return readIn(language, short) ?? readIn(language, short.replace(adverbs, ''));
}

/**
 * Whether a clause as a whole is a statement: "I live in Rome, said the hero" is not, although its beginning looks like
 * a statement.
 */
function isStated({ fillers, notStated }: StatementLanguage, plain: string): boolean {
  return !notStated.test(plain.replace(fillers, ''));
}

/**
 * A clause without the words before its statement; undefined for a wish, a condition, a request or a report of what
 * others said, in any wording.
 */
export function statedPart(clause: string): string | undefined {
  const language = languageOf(clause);
  const plain = plainText(language, clause);
  return isStated(language, plain) ? plain.replace(language.fillers, '') : undefined;
}

/** Words for the present at the end of a statement. */
const present = /(?<=[\p{L}\p{N}]),? (?:now|these days|nowadays|from now on|теперь|сейчас)$/iu;

/** Adverbs of time and emphasis inside of a statement. */
const adverbs = /(?<=[\p{L}] )(?:actually|currently|really|теперь|сейчас|на самом деле|вообще-то) /giu;

/** A remark begins at the first comma or at the first word that joins a remark, in both languages. */
const remark =
  /(?:,| -| –| —|\s(?:so|because|which|since|not|instead of|rather than|а не|вместо|так что|потому что|поэтому)\s).*$/iu;

/** A clause with its short forms written out, without meaningless words at its end. */
function plainText({ plain, tails }: StatementLanguage, text: string): string {
  return plain
    .reduce(
      (result, [pattern, replacement]) => result.replace(pattern, replacement),
      tails.reduce(withoutTail, text.replaceAll('’', "'")),
    )
    .trim();
}

/**
 * Only this number of last characters is searched for a tail: searching the whole text takes time in the square of its
 * length.
 */
const longestTail = 200;

function withoutTail(text: string, tail: RegExp): string {
  const from = Math.max(0, text.length - longestTail);
  return text.slice(0, from) + text.slice(from).replace(tail, '');
}

/** A change that a sentence states. */
type StatedChange = {
  /** The sentence, without a question after it. */
  readonly text: string;
  readonly topics: readonly ChangedTopic[];
  readonly ended: readonly EndedValue[];
  readonly renewed: RenewedValue | undefined;
};

/**
 * The change that a sentence states; undefined if the sentence states no change, and for questions and wishes.
 * @param saysMore whether the sentence also makes a statement
 */
export function readChange(sentence: string, saysMore: boolean): StatedChange | undefined {
  if (sentence.length > longestClause) return undefined;
  const language = languageOf(sentence);
  for (const text of withoutQuestion(language, sentence)) {
    const plain = ownSentence(language, text);
    const change = plain === undefined ? befallingIn(language, text) : ownChangeIn(language, { text, plain, saysMore });
    if (change.topics.length + change.ended.length > 0 || change.renewed !== undefined) return { text, ...change };
  }
  return undefined;
}

type ChangeIn = Omit<StatedChange, 'text'>;
/** Length of the end of a sentence in which words can name a mistake: "not Tula but Tver, typo". */
const longestMistake = 20;

function ownChangeIn(
  language: StatementLanguage,
  { text, plain, saysMore }: { readonly text: string; readonly plain: string; readonly saysMore: boolean },
): ChangeIn {
  // Words before the sentence can be part of a change: "actually we're in Oslo now", "I meant Bradford, not Leeds".
  const whole = plainText(language, text);
  const { changed, states, endings, renewals } = language;
  const lasts = renewals.renews.test(whole) && !renewals.passes.test(whole);
  const topics = [...changed, ...(lasts ? states : [])].flatMap(([phrase, about, texts]) => {
    const found = phrase.exec(plain) ?? phrase.exec(whole);
    return found === null ? [] : [{ about, texts, unless: analyse(found.groups?.['next'] ?? '') }];
  });
  const corrects = endings.corrects.test(whole.slice(0, whole.length - plain.length));
  const namesMistake = corrects || endings.corrects.test(whole.slice(-longestMistake));
  const isOnce = endings.once.test(plain);
  const ended = [
    ...endedValues(endings, plain, saysMore || namesMistake),
    ...(isOnce ? [] : endedInClauses(language.clauses, plain)),
    ...endedOfPerson(language.persons, plain),
    ...endedOfTopic(language.named, plain),
  ];
  return { topics, ended, renewed: renewedValue(renewals, whole, corrects) };
}

/** Events caused by others that change a fact about the speaker: "he proposed and I said yes". */
function befallingIn(language: StatementLanguage, text: string): ChangeIn {
  const isOther = text.endsWith('?') || quoted.test(text) || disownsStatement(text);
  const own = plainText(language, text).replace(language.fillers, '');
  const topics = language.befalls.flatMap(([phrase, about, texts]) => {
    return !isOther && phrase.test(own) ? [{ about, texts }] : [];
  });
  const ended = isOther || !isStated(language, own) ? [] : endedOfPerson(language.persons, own);
  return { topics, ended, renewed: undefined };
}

/** Places where a statement can begin in a text of several sentences without marks between them. */
const laterStarts =
  /(?<=:\s)(?=\p{L})|(?<=[\s,])(?:(?:I|I['’]?m|I['’]ve|im|my|we|our|call me|people call me)(?=\s)|(?<!(?:не|ни|раньше|больше|бросил[аи]?|перестал[аи]?)\s)(?:я|мы|мне|меня|мой|моя|мое|моё|зови|зовут|живу|живем|живём|обосновал(?:ся|ась|ись)|поселил(?:ся|ась|ись)|работаю|учусь|учу|изучаю|езжу|занимаюсь|увлекаюсь|пью|люблю|устроил(?:ся|ась)|стал[аи]?)(?![\p{L}]))/giu;

/**
 * The last statement of a sentence that begins otherwise: "I made a mistake I am 42", "сменила машину и езжу
 * на Форде". Undefined for a question, a wish or a report.
 * @returns the statement and where it begins, in UTF-16 units
 */
export function readLaterStatement(
  sentence: string,
): { readonly statement: Statement; readonly text: string; readonly at: number } | undefined {
  if (sentence.length > longestClause) return undefined;
  const language = languageOf(sentence);
  for (const own of withoutQuestion(language, sentence)) {
    if (ownSentence(language, own) === undefined) continue;
    for (const { index } of [...own.matchAll(laterStarts)].toReversed()) {
      if (disownsNext(own.slice(0, index))) continue;
      const text = own.slice(index);
      const statement = readStatement(text);
      if (statement?.holds === true) return { statement, text, at: index };
    }
  }
  return undefined;
}

/**
 * The sentence up to each question that it can end with, if it states the present before that; then the whole sentence.
 */
function withoutQuestion({ asked, since }: StatementLanguage, sentence: string): readonly string[] {
  const beginnings = [...sentence.matchAll(asked)].map(({ index }) => sentence.slice(0, index));
  return [...beginnings.filter((text) => since.test(text)), sentence];
}

/**
 * The plain text of a sentence that the speaker states; undefined for a sentence about others, and for questions and
 * wishes.
 */
function ownSentence(language: StatementLanguage, sentence: string): string | undefined {
  if (sentence.endsWith('?') || quoted.test(sentence) || disownsStatement(sentence)) return undefined;
  const plain = plainText(language, sentence).replace(language.fillers, '');
  const own = withoutLead(language, plain);
  if (own === undefined || language.others.test(own)) return undefined;
  // These phrases look like reports about other persons, but are not.
  return isStated(language, plain.replace(notReports, '')) ? plain : undefined;
}

const notReports =
  /\bI guess\b|\btold me to stop\b|\bI said\b|(?<![\p{L}])написал[аи]? (?:\p{L}+ ){0,2}заявлени[ея](?![\p{L}])/iu;

/** Words up to a colon that introduce a statement: "A bit about me: I moved to Oslo." */
const leadWords = /^([^:"]{1,40}):\s+(?=\p{L})/u;
/** The name of a person in a dialogue that was pasted: "Anna: I moved to Oslo." */
const speakerLabel = /^(?:\p{L}+|\p{Lu}\p{L}+ \p{Lu}\p{L}+)$/u;

/** The sentence after the words that introduce it; undefined if they name another speaker. */
function withoutLead(language: StatementLanguage, plain: string): string | undefined {
  const lead = leadWords.exec(plain);
  const words = lead?.[1]?.trim();
  if (lead === null || words === undefined) return plain;
  if (introducesSpeech(words)) return undefined;
  if (!isStated(language, words)) return plain;
  const isOther = speakerLabel.test(words) || language.others.exec(words)?.[0].length === words.length;
  return isOther ? undefined : plain.slice(lead[0].length).replace(language.fillers, '');
}

/** The statement that a clause asks to forget: "Forget that I live in Berlin". */
export function readForgotten(clause: string): Statement | undefined {
  const language = languageOf(clause);
  const text = plainText(language, clause).replace(language.fillers, '');
  const request = language.forget.exec(text)?.[0];
  return request === undefined ? undefined : readStatement(text.slice(request.length));
}

function languageOf(text: string): StatementLanguage {
  return /\p{Script=Cyrillic}/u.test(text) ? russian : english;
}

function readIn(language: StatementLanguage, clause: string): Statement | undefined {
  const text = clause.replace(language.fillers, '').trim();
  if (language.notStated.test(text)) return undefined;
  return readPlain(language, text) ?? readParaphrased(language, text);
}

/** Maximum number of paraphrases that are applied to one clause: "since 2019 we've been living in Rome". */
const mostParaphrases = 3;

function readParaphrased(language: StatementLanguage, text: string): Statement | undefined {
  let current = text;
  for (let tried = 0; tried < mostParaphrases; tried += 1) {
    const found = language.paraphrases.find(([beginning]) => beginning.test(current));
    if (found === undefined) return undefined;
    const next = current.replace(...found);
    const statement = next === current ? undefined : readPlain(language, next);
    if (statement !== undefined) return statement;
    current = next;
  }
  return undefined;
}

function readPlain(language: StatementLanguage, text: string): Statement | undefined {
  const direct = match(language.forms, text);
  const negated = negatedIn(language, text);
  if (negated === undefined) return direct;
  const base = match(language.forms, negated.replace(/\s+/g, ' ').trim());
  if (base === undefined) return direct;
  return { ...base, holds: !base.holds };
}

/** The clause without its first negation; undefined if it has no negation. */
function negatedIn({ negations }: StatementLanguage, text: string): string | undefined {
  let found: string | undefined;
  for (const [negation, replacement] of negations) {
    const current = found ?? text;
    const without = current.replace(negation, replacement);
    // "do not … any more" is one negation.
    if (without !== current) found = without;
  }
  return found;
}

function match(forms: readonly StatementForm[], text: string): Statement | undefined {
  for (const form of forms) {
    const groups = form.pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const about = (groups['about'] ?? '').trim();
    const value = (groups['value'] ?? '').trim();
    if (form.except?.test(value === '' ? about : value) === true) continue;
    if (form.topic === 'my' && isOfTheMoment(about, value)) continue;
    return statementOf(form, about, value);
  }
  return undefined;
}

/**
 * Things whose momentary state is not a fact ("my laptop is slow"). Their make, kind or number is a fact ("my laptop is
 * a ThinkPad").
 */
const everyday =
  /^(?:(?:new|old) )?(?:train|bus|flight|plane|taxi|tram|laptop|phone|computer|pc|screen|monitor|printer|battery|tablet|keyboard|mouse|headphones|wifi|wi-fi|router|parcel|package|order|delivery|coffee|tea|food|lunch|dinner|breakfast|back|neck|tooth|throat|stomach|eyes?|hands?|feet|foot|leg|arm|nose|boss|neighbou?rs?|manager|colleague|teacher|roommate|flatmate|landlord|kids?|baby|child|dog|cat|puppy|kitten)\b/i;
const lasting = /^(?:an? |the |called |named |[\p{Lu}\d])/u;
const doing =
  /^(?:\p{L}+ing\b|wants? (?:this|that|it|me)\b|at (?:\p{L}+|\d+) ?percent|about to\b|still\b|again\b|delayed|late\b|stuck|frozen|empty|dead\b|full\b|off\b|on\b|out\b|asleep|awake|away|back\b|sore|hurting|cold\b|hot\b|ready)/iu;

function isOfTheMoment(about: string, value: string): boolean {
  if (/ wants?$/i.test(about) && /^(?:this|that|it|me|the|an answer|everything)\b/i.test(value)) return true;
  return everyday.test(about) && !lasting.test(value) && doing.test(value);
}

function statementOf(form: StatementForm, about: string, value: string): Statement {
  const terms = termsOf(value);
  const subject = form.isOpen === true ? terms : termsOf(about);
  const topic = oneTopic(subject === '' ? form.topic : `${form.topic}: ${subject}`);
  return { topic: topic.slice(0, 500), value: terms, holds: form.isNegative !== true };
}

/** Topics that people name in several ways, and of which a person has one value at a time. */
const sameTopics: readonly (readonly [RegExp, string])[] = [
  [/^my: (?:employ|compani|workplac|компан|работодател)\p{L}*$/u, 'employer'],
  [/^my: (?:job|profess|occup|role|posit|професс|работ|должност)\p{L}*$/u, 'job'],
  [/^my: (?:major|факультет|специальн)\p{L}*$/u, 'studies'],
  [/^my: (?:car|машин|автомобил)\p{L}*$/u, 'car'],
  [/^my: начальниц$/u, 'name of: начальник'],
  [/^my: (?:name|им)$/u, 'name'],
  [/^my: (?:age|возраст)$/u, 'age'],
  [/^my: (?:home|hometown|address|citi|город|адрес)$/u, 'residence'],
  [/^favourite: (?:dish|food|meal|блюд|ед|кухн)\p{L}*$/u, 'favourite: food'],
];

function oneTopic(topic: string): string {
  const plain = topic.replace(/^my: нов (?=\p{L})/u, 'my: ');
  return sameTopics.find(([pattern]) => pattern.test(plain))?.[1] ?? plain;
}

function termsOf(text: string): string {
  return analyse(text)
    .filter((term) => !fillerTerms.has(term))
    .slice(0, mostValueTerms)
    .join(' ');
}

const fillerTerms = new Set([...['a', 'an', 'the', 'now', 'my', 'теперь', 'тепер', 'сейчас', 'это', 'is', 'are']]);
