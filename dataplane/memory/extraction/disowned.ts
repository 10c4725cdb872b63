const gap = '[\\s,:—–-]*';

/** What the writer assumes: "Suppose, I live in Rome". */
const assumed =
  "(?:suppose|supposing|assume|assuming|imagine|imagining|pretend|let['’]?s (?:say|assume|pretend|imagine|suppose)|hypothetically(?: speaking)?|допустим|предположим|представь(?:те)?|представим|вообрази(?:те)?|притворись|притворимся)(?: that|,? что)?";
/** What the writer states to be false, or never to have happened: "It is not true that I live in Rome". */
const denied =
  "(?:(?:not|n['’]t|never) (?:\\p{L}+ )?(?:true|correct|right|the case)|untrue|false|wrong|incorrect|nonsense|(?:a |an )?(?:lie|joke|myth|rumou?r)|(?:joked|lied|pretended|denied|doubt|doubted|dream(?:t|ed)|dreaming|never (?:said|claimed|wrote|told \\p{L}+))) that" +
  '|(?:joked|lied|pretended|dream(?:t|ed)|never (?:said|claimed|wrote|told \\p{L}+)|(?:joked|lied|joking|kidding|lying) when I (?:said|wrote|told \\p{L}+))(?: that)?' +
  '|(?:неправда|не правда|неверно|не верно|ложь|вранье|враньё|выдумка|шутка|слух|слухи|(?:по)?шутил[аи]?|(?:со|на)?врал[аи]?|(?:при)?снилось|снится|отрицаю|сомневаюсь|притворял(?:ся|ась)|не (?:говорил|утверждал|писал)[аи]?),? что';
/** What others believe: "Nobody believes that I live in Rome". */
const believed =
  '(?<!\\bI (?:\\p{L}+ )?)\\b(?:thinks?|thought|believes?|believed|assumes?|assumed|supposes?|suspects?|suspected|guesses|guessed|insists?|swears?)(?: that)?' +
  '|(?<!\\bя (?:\\p{L}+ )?)(?<![\\p{L}])(?:думает|думаешь|думаете|думают|думал[аи]?|считает|считаешь|считаете|считают|полагает|полагают|верит|верят|веришь|подозревает)(?:,? что)?';

const words = `(?<![\\p{L}])(?:${assumed}|${denied}|${believed})`;
const atEnd = new RegExp(`${words}${gap}$`, 'iu');
const beforeWriter = new RegExp(
  `${words}${gap}(?=(?:I|I['’]m|we|my|our|я|мы|мой|моя|мне|меня|у меня)(?![\\p{L}]))`,
  'iu',
);
const mostWords = 120;

/**
 * Whether words take back the statement behind them: an assumption, a denial, a dream, a joke, or what others believe. The
 * statement is in the same sentence and is not what the writer says of themselves.
 */
export function disownsNext(wordsBefore: string): boolean {
  return atEnd.test(wordsBefore.slice(-mostWords));
}

/** Whether a sentence takes back a statement of its writer in this way. */
export function disownsStatement(sentence: string): boolean {
  return beforeWriter.test(sentence);
}
