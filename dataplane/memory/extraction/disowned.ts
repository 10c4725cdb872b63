const gap = '[\\s,:—–-]*';

/** Assumptions of the writer: "Suppose, I live in Rome". */
const assumed =
  "(?:suppose|supposing|assume|assuming|imagine|imagining|pretend|let['’]?s (?:say|assume|pretend|imagine|suppose)|hypothetically(?: speaking)?|допустим|предположим|представь(?:те)?|представим|вообрази(?:те)?|притворись|притворимся)(?: that|,? что)?";
/** Statements that the writer denies: "It is not true that I live in Rome". */
const denied =
  "(?:(?:not|\\p{L}+n['’]t|never) (?:\\p{L}+ )?(?:true|correct|right|the case)|untrue|false|wrong|incorrect|nonsense|(?:a |an )?(?:lie|joke|myth|rumou?r)|(?:joked|lied|pretended|denied|doubt|doubted|dream(?:t|ed)|dreaming|never (?:said|claimed|wrote|told \\p{L}+))) that" +
  '|(?:joked|lied|pretended|dream(?:t|ed)|never (?:said|claimed|wrote|told \\p{L}+)|(?:joked|lied|joking|kidding|lying) when I (?:said|wrote|told \\p{L}+))(?: that)?' +
  '|(?:неправда|не правда|неверно|не верно|ложь|вранье|враньё|выдумка|шутка|слух|слухи|(?:по)?шутил[аи]?|(?:со|на)?врал[аи]?|(?:при)?снилось|снится|отрицаю|сомневаюсь|притворял(?:ся|ась)|не (?:говорил|утверждал|писал)[аи]?),? что';
/** Beliefs of others: "Nobody believes that I live in Rome". */
const believed =
  '(?<!\\bI (?:\\p{L}+ )?)\\b(?:thinks?|thought|believes?|believed|assumes?|assumed|supposes?|suspects?|suspected|guesses|guessed|insists?|swears?)(?: that)?' +
  '|(?<!\\bя (?:\\p{L}+ )?)(?<![\\p{L}])(?:думает|думаешь|думаете|думают|думал[аи]?|считает|считаешь|считаете|считают|полагает|полагают|верит|верят|веришь|подозревает)(?:,? что)?';
/** Doubts of the writer: "I am not sure whether I am allergic to nuts". */
const unsure =
  '(?:not sure|not certain|unsure|uncertain)(?: (?:if|that))?|whether|it (?:seems|appears|looks like)(?: that)?|neither|nor' +
  '|(?:не уверен[аы]?|не помню|не знаю),? (?:что|ли)|(?:кажется|вроде(?: бы)?|возможно|наверное|наверно|может быть|похоже)(?:,? что)?';
/** Statements that the writer does not want stored: "Don't store that I live in Rome". */
const withheld =
  "(?:do not|don['’]?t|never|no need to) (?:remember|store|save|keep|memori[sz]e|record|note|write down)(?: the fact| it)?(?: that)?" +
  '|не (?:запоминай|сохраняй|записывай|храни|помни|учитывай|надо запоминать|нужно запоминать)(?:те)?(?:,? (?:о том,? )?что)?';

const words = `(?<![\\p{L}])(?:${assumed}|${denied}|${believed}|${unsure}|${withheld})`;
const atEnd = new RegExp(`${words}${gap}$`, 'iu');
const beforeWriter = new RegExp(
  `${words}${gap}(?=(?:I|I['’]m|we|my|our|я|мы|мой|моя|мне|меня|у меня)(?![\\p{L}]))`,
  'iu',
);
const mostWords = 120;

/**
 * Whether words retract the statement after them in the same sentence: an assumption, a denial, a doubt, a dream, a
 * joke, a belief of others, or a request not to store it.
 */
export function disownsNext(wordsBefore: string): boolean {
  return atEnd.test(wordsBefore.slice(-mostWords));
}

/** Whether a sentence retracts its own statement with such words. */
export function disownsStatement(sentence: string): boolean {
  return beforeWriter.test(sentence);
}

const joke = '(?:(?:just|only) )?(?:kidding|joking)|jk|шучу|пошутил[аи]?';
const jokeAlone = new RegExp(
  `^(?:(?:i['’]?m|i am|i was|that was|it was|this is|это|это была) )?(?:${joke}|(?:just )?(?:a )?joke|not|шутка)[\\s!.)]*$`,
  'iu',
);
const jokeAtEnd = new RegExp(`[\\s,–—-](?:${joke})[\\s!.)]*$`, 'iu');
const longestJoke = 40;

/** Whether a sentence only retracts the previous one: "Just kidding!" */
export function disownsBefore(sentence: string): boolean {
  return sentence.length <= longestJoke && jokeAlone.test(sentence.trim());
}

/** Whether a sentence retracts itself at its end: "I live in Rome, just kidding". */
export function disownsItself(sentence: string): boolean {
  return jokeAtEnd.test(sentence.trimEnd().slice(-longestJoke));
}
