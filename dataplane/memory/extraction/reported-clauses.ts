import { disownsNext } from './disowned.ts';

/** The end of a clause after which another person speaks: "My wife said", "жена пишет". */
const speakerBefore =
  /(?:\b(?:said|says|say|saying|told (?:me|us|him|her|them|everyone)|wrote|writes|texted|replied|answered|asked|announced|claims?|claimed|insists?|insisted|shouted|goes)(?: that)?|(?<![\p{L}])(?:сказал[аи]?|говорит|говорят|говорил[аи]?|пишет|пишут|писал[аи]?|написал[аи]?|ответил[аи]?|отвечает|спросил[аи]?|спрашивает|заявил[аи]?|заявляет|твердит|утверждает))(?: (?:мне|нам|всем|ему|ей|им|to me|to us))?[\s:,—–-]*$/iu;
/** The beginning of a clause that names the speaker of the words before: "said the hero", "сказал мальчик". */
const speakerAfter =
  /^(?:said|says|wrote|writes|replied|answered|asked|announced|shouted|сказал[аи]?|говорит|пишет|написал[аи]?|ответил[аи]?|спросил[аи]?|заявил[аи]?)(?![\p{L}])(?! (?:i|я)(?![\p{L}]))/iu;
/** The writer is the speaker: "As I said", "как я сказал". */
const writerSpeaks =
  /(?:^|[\s,])(?:I|we|I['’]ve|we['’]ve|я|мы)(?: (?:just|already|also|уже|тебе|вам|ведь))* \p{L}+[\s\p{L}]{0,20}$/iu;
const longestSpeaker = 80;

/**
 * The clauses of one sentence that are reported speech, or that the writer retracts: those after a clause that ends
 * with a verb of saying or with words such as "suppose", and those before one that begins with such a verb. A statement
 * of the writers about themselves ("As I said, I live in Rome") is a statement.
 */
export function reportedClauses(clauses: readonly string[]): ReadonlySet<number> {
  const before = clauses.findIndex((clause) => introducesSpeech(clause) || disownsNext(clause));
  const after = clauses.findLastIndex((clause, at) => at > 0 && speakerAfter.test(clause.slice(0, longestSpeaker)));
  return new Set(clauses.flatMap((_, at) => ((before >= 0 && at > before) || at < after ? [at] : [])));
}

/** Whether words end with a verb of saying whose subject is not the writer. */
export function introducesSpeech(words: string): boolean {
  const end = words.slice(-longestSpeaker);
  return speakerBefore.test(end) && !writerSpeaks.test(end);
}
