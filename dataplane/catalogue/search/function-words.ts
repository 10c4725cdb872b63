import { analyse, analyseQuery } from '#search/analysis/analyse';

const english =
  "a about after all also am an and any are as at be been before being but by can could did do does doing each few for from further had has have having he her here hers him his how i if in into is it its it's just me more most my no nor not of off on only onto or other our ours out over own please shall she should so some such than that the their theirs them then there these they this those to too under until up upon us very was we were what when where which while who whom whose why will with without would you your yours";
const russian =
  'а без бы был была были было быть в вам вас ваш весь во вот все всех вы где да для до его ее ей ему если есть еще ж же за и из или им их к как какая какие какой ко когда которая которое которые который кто ли меня мне может мой мы на над надо нам нас наш не него нее ней нет ни них но ну о об он она они оно от по под пожалуйста при про с себя со так также там те тем то того тоже той только том ты у уже хотя чего чем что чтобы эта эти это этот я';

/**
 * Terms of words of English and Russian that do not indicate a subject: nearly every question and description has some.
 */
const functionTerms: ReadonlySet<string> = new Set(analyse(`${english} ${russian}`));

/** The terms of a query that can be about a subject. */
export function subjectTerms(query: string): readonly string[] {
  return analyseQuery(query).filter((term) => !functionTerms.has(term));
}
