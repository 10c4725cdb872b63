import { analyse } from '#search/analysis/analyse';
import type { EndedValue } from './ended-values.ts';

/** Words of a clause that ends something, wherever they stand in it, and the topics that they can end. */
type ClauseEnding = { readonly words: RegExp; readonly topics: RegExp };

type ClauseLanguage = {
  readonly endings: readonly ClauseEnding[];
  /** Where one clause ends and the next begins. */
  readonly between: RegExp;
  /** Words for the time and the reason of an end, which do not belong to what has ended. */
  readonly circumstances: readonly RegExp[];
  /** A clause of others, about something indefinite, denied, planned or for a while. */
  readonly barred: RegExp;
  /** Words that deny what was so, with the verb that they deny: "can't watch … any more". */
  readonly denied: readonly RegExp[];
  /** Verbs of which the denial says nothing: "I can't see the dog any more". */
  readonly sensed: RegExp;
  /** Terms that can stand beside what has ended. */
  readonly beside: ReadonlySet<string>;
};

/**
 * The values that a clause states to have ended, in whatever order it states it: "we let Netflix lapse", "my time at Nokia is
 * over". All that the clause says beside the end must be in the memory, so that "lost the cat's toy" ends no cat.
 */
export function endedInClauses(language: ClauseLanguage, text: string): readonly EndedValue[] {
  const { endings, between, circumstances, barred } = language;
  return text.split(between).flatMap((clause): readonly EndedValue[] => {
    const held = deniedIn(language, clause);
    if (held !== undefined)
      return barred.test(held) ? [] : endedBeside(language, withoutAll(circumstances, held), deniable);
    if (barred.test(clause)) return [];
    const body = withoutAll(circumstances, clause);
    return endings.flatMap(({ words, topics }): readonly EndedValue[] => {
      const found = words.exec(body);
      if (found === null) return [];
      const rest = `${body.slice(0, found.index)} ${body.slice(found.index + found[0].length)}`;
      return endedBeside(language, rest, topics);
    });
  });
}

/** Topics that a denial in other words ends. */
const deniable = /^(?!name|birthday|age|origin|native language|lived|happened|formerly|residence)/;

function withoutAll(patterns: readonly RegExp[], clause: string): string {
  return patterns.reduce((rest, words) => rest.replace(words, ' '), clause);
}

function endedBeside({ beside }: ClauseLanguage, rest: string, topics: RegExp): readonly EndedValue[] {
  const terms = analyse(rest).filter((term) => !beside.has(term));
  return terms.length === 0 ? [] : [{ terms, topics }];
}

/** A clause without the words that deny it for good; undefined for one that does not. */
function deniedIn({ denied, sensed }: ClauseLanguage, clause: string): string | undefined {
  for (const words of denied) {
    const found = words.exec(clause)?.[0];
    if (found !== undefined && !sensed.test(found)) {
      return clause
        .replace(words, ' ')
        .replace(/(?<!\p{L})(?:any ?more|any longer|nowadays|these days|больше|уже)(?!\p{L})/giu, ' ');
    }
  }
  return undefined;
}

const termsOf = (words: string): ReadonlySet<string> => new Set(analyse(words));

const services = '^(?:uses|my: (?:bank|gym|provid|insur|broadband|newspap|subscript))';
const things =
  '^(?:car|has: (?!child|kid|son|daughter|brother|sister)|my: (?:car|bike|bicycl|boat|hous|flat|apart|motorbik|motorcycl|guitar|piano|van))';
const pets =
  '^(?:name of|my|has): (?:dog|cat|pet|puppi|kitten|parrot|hors|hamster|rabbit|bird|fish|budgi|tortois|turtl|guinea|snake|lizard|poni|chicken|hen)';
const places = '^(?:employer|studies)';
const pursuits = '^(?:activity|learning|habit|my: (?:hobb|sport))';
const plans = '^(?:wedding|appointment|plan|goal|my: (?:wed|trip|holiday|goal|plan|surgeri))';
const partners = '^(?:name of|my|has): (?:girlfriend|boyfriend|wife|husband|partner|fianc|spous)';
const month = '(?:january|february|march|april|may|june|july|august|september|october|november|december)';
const season = '(?:spring|summer|autumn|fall|winter|christmas|easter)';

export const englishClauses: ClauseLanguage = {
  between: /[,.;:!?–—]+\s|\s(?:and|but|so)\s/u,
  circumstances: [
    /(?<!\p{L})(?:because|since|due to|after|thanks to|owing to|as I|when)(?!\p{L}).*$/iu,
    new RegExp(
      `(?<!\\p{L})(?:(?:in|around|back in|early in|late in) (?:\\d{4}|${month}|the ${season})|(?:last|this) (?:year|month|week|${month}|${season})|(?:\\p{L}+|\\d+) (?:days?|weeks?|months?|years?) ago|over (?:the )?${season}|for (?:good|ever)|once and for all|of (?:old age|cancer|kidney failure)|in (?:his|her|its) sleep)(?!\\p{L})`,
      'iu',
    ),
  ],
  barred:
    /(?<!\p{L})(?:s?he|they|you|your|his|her|their|its|who|which|someone|somebody|everyone|nobody|an?|another|some|any|every|each|not|never|n't|no|almost|nearly|will|would|should|could|might|(?-i:may)|must|can|want|wants|wanted|going to|about to|plan|planning|thinking|try|tried|trying|if|unless|until|while|when|next|tomorrow|today|tonight|yesterday|temporarily|early|late|for (?:the|a|an|one|two|three|lunch|dinner|now)|first|second)(?!\p{L})|n't(?!\p{L})|'(?:ll|d)(?!\p{L})|'s (?=\p{L})/iu,
  denied: [
    /(?:^|(?<!\p{L})(?:I|we) )(?:really |just |simply )?(?:(?:ca|could|do|did|have|would)n't|cannot|(?:can|could|do|did|am|are|have|would) not) (?:really |even )?(?:(?:want|need|have|like) to )?(?:\p{L}+ )?(?=[^.!?]*(?<!\p{L})(?:any ?more|any longer)(?!\p{L}))/iu,
    /(?<!\p{L})I'm not (?:(?:in)?to |\p{L}+ing )?(?=[^.!?]*(?<!\p{L})(?:any ?more|any longer)(?!\p{L}))/iu,
    /(?:^|(?<!\p{L})(?:I|we|I'm|I am) )(?:can )?no longer (?:(?:want|need|have|like) to )?(?:\p{L}+ )?/iu,
  ],
  sensed:
    /(?<!\p{L})(?:see|hear|find|smell|feel|know|remember|understand|recognise|recognize|believe|think|trust|wait|bother)(?!\p{L})/iu,
  beside: termsOf(
    "i i'm i've we we've we're me us my our the this that these those is are was were am be been being has have had do did does got get getting just finally recently let already sadly luckily now actually completely totally really all then also too both old former previous to from of at on in with by for up out over down off away decided chose had myself ourselves own club class classes course courses lesson lessons membership account subscription contract days time career thing habit hobby doctor doctors app service care less about interested into",
  ),
  endings: [
    {
      words:
        /(?<!\p{L})(?:lapsed?|expired?|cancell?ed|terminated|discontinued|unsubscribed|uninstalled|deactivated|deleted|ditched|dumped|dropped|given up|gave up|got rid|stopped (?:using|paying))(?!\p{L})/iu,
      topics: new RegExp(services),
    },
    {
      words:
        /(?<!\p{L})(?:sold|stolen|totall?ed|wrecked|scrapped|donated|given away|gave away|repossessed|written off|wrote off|traded in|junked|auctioned|burned down|burnt down|sank|got rid|parted with|parted ways)(?!\p{L})/iu,
      topics: new RegExp(things),
    },
    {
      words:
        /(?<!\p{L})(?:died|dead|passed away|passed on|put down|put to sleep|rehomed|run over|buried|given away|gave away|given up for adoption)(?!\p{L})/iu,
      topics: new RegExp(pets),
    },
    {
      words:
        /(?<!\p{L})(?:quit|left|fired|sacked|laid off|let go|resigned|ended|behind me|behind us|dismissed|over|finished|done|history|dropped out|expelled|graduated|kicked out|walked out|parted ways|handed in (?:my|our) notice)(?!\p{L})/iu,
      topics: new RegExp(places),
    },
    {
      words:
        /(?<!\p{L})(?:folded|shut down|closed down|disbanded|went (?:bust|under|bankrupt)|gone (?:bust|bankrupt)|dissolved|packed (?:it )?in|jacked in|given up|gave up|giving up|abandoned|ditched|lost interest|got bored|retired from|retired|quit|hung up)(?!\p{L})/iu,
      topics: new RegExp(`${pursuits}|^employer`),
    },
    {
      words:
        /(?<!\p{L})(?:(?:days|time|years|career|chapter|stint|phase) (?:of |at |with |as |in |on )?(?:\p{L}+ ){0,3}(?:is|are|was|were|has|have) (?:now |long |finally |well and truly )?(?:over|done|finished|ended|behind (?:me|us)|past|gone|come to an end))(?!\p{L})/iu,
      topics: /^(?!name|birthday|age)/,
    },
    {
      words:
        /(?<!\p{L})(?:took (?:me|us) off|taken off|weaned|came off|stopped|discontinued|done with|finished with)(?!\p{L})/iu,
      topics: /^(?:medicine|my: medic)/,
    },
    {
      words:
        /(?<!\p{L})(?:called off|cancell?ed|scrapped|shelved|abandoned|fell through|fallen through|dropped|bailed|off the table|off|on ice|dead in the water)(?!\p{L})/iu,
      topics: new RegExp(plans),
    },
    {
      words:
        /(?<!\p{L})(?:is my ex|is an ex|dumped|split up|split|broke up|broken up|broke it off|divorced|separated|ended things|ended it|over|cheated on me|walked out on me|left me|widowed|died|passed away)(?!\p{L})/iu,
      topics: new RegExp(partners),
    },
    {
      words: /(?<!\p{L})(?:left|moved away|moved out|moved on|gone from|sold up|upped sticks)(?!\p{L})/iu,
      topics: /^residence/,
    },
    {
      words: /(?<!\p{L})(?:forgotten|forgot|rusted away)(?!\p{L})/iu,
      topics: /^(?:language|ability)/,
    },
    {
      words:
        /(?<!\p{L})(?:cured|outgrown|outgrew|grew out|grown out|gone away|went away|cleared up|disappeared|overcome|overcame|conquered|got over|beat)(?!\p{L})/iu,
      topics: /^(?:allergy|intolerance|health|fear)/,
    },
  ],
};

const russianMonth = '(?:январе|феврале|марте|апреле|мае|июне|июле|августе|сентябре|октябре|ноябре|декабре)';

/** The same for Russian. */
export const russianClauses: ClauseLanguage = {
  between: /[,.;:!?–—]+\s|\s(?:и|но|а|так что)\s/u,
  circumstances: [
    /(?<![\p{L}])(?:потому что|из-за|после|поскольку|так как|ради|от (?:старости|рака|болезни))(?![\p{L}]).*$/iu,
    new RegExp(
      `(?<![\\p{L}])(?:в (?:${russianMonth}|\\d{4}(?: году)?|прошлом (?:году|месяце)|этом (?:году|месяце))|(?:на )?(?:прошлой|этой) (?:неделе|весной|осенью|зимой)|(?:прошлым|этим) летом|весной|летом|осенью|зимой|(?:\\p{L}+ |\\d+ )?(?:день|дня|дней|неделю|недели|недель|месяц|месяца|месяцев|год|года|лет) назад|навсегда|насовсем|окончательно)(?![\\p{L}])`,
      'giu',
    ),
  ],
  barred:
    /(?<![\p{L}])(?:он|она|они|оно|ты|вы|его|ее|их|твой|твоя|ваш|ваша|кто|который|которая|кто-то|все|каждый|не|ни|чуть|едва|почти|хочу|хотел[аи]?|собираюсь|думаю|буду|будем|если|пока|когда|завтра|сегодня|вчера|временно|на (?:день|неделю|месяц|время|лето|выходные|обед|минуту|час)|рано|поздно|одну|одна|один|другой|другая|чужой|пополам)(?![\p{L}])/iu,
  denied: [
    /(?<![\p{L}])(?:больше|уже|теперь) (?:вообще |совсем |никогда )?(?:\p{L}+(?:ть|ться|ти|чь) )?не (?:\p{L}+(?:ю|у|юсь|усь|ем|им|емся|имся)|нужн\p{L}+|нужен|надо|интерес\p{L}+|нравится|нравятся)(?![\p{L}])(?: \p{L}+(?:ть|ться|ти|чь)(?![\p{L}]))?(?! (?:на|в|у|при|до|перед) )/iu,
    /(?<![\p{L}])не (?:\p{L}+(?:ю|у|юсь|усь|ем|им)|нужн\p{L}+|нужен) (?:больше|уже)(?: \p{L}+(?:ть|ться|ти|чь))?(?=[\s.!]*$)/iu,
    /(?<![\p{L}])\p{L}+(?:ть|ться|ти|чь) (?=[^.!?]{0,40}(?<![\p{L}])(?:больше|уже) не (?:хочу|могу|буду|стану))/iu,
  ],
  sensed: /(?<![\p{L}])(?:вижу|слышу|нахожу|чувствую|знаю|помню|понимаю|узнаю|верю|думаю|жду)(?![\p{L}])/iu,
  beside: termsOf(
    'коллекция коллекцию почту почта ящик аллергию аллергия хочу могу буду стану алло вообще я мы меня нас мне нам мой моя мое мои моего моей мою наш наша наше наши нашу свой свою свое своего это эта этот эту тот та ту был была было были есть в во на из с со к ко у от для за по про наконец недавно уже теперь давно увы совсем полностью тоже и пришлось решил решила решили курсы курс уроки занятия клуб кружок секция секцию абонемент подписка подписку счет карту аккаунт договор дела дело врач доктор сам сама своими',
  ),
  endings: [
    {
      words:
        /(?<![\p{L}])(?:отменил|отключил|закрыл|удалил|расторг|отписал(?:ся|ась)?|заблокировал|снес|забросил)[аи]?(?![\p{L}])/iu,
      topics: /^(?:uses|my: (?:банк|спортзал|провайд|оператор|страхов|интернет))/,
    },
    {
      words:
        /(?<![\p{L}])(?:(?:продал|подарил|обменял|списал|утопил|пропил|утилизировал|разбил)[аи]?|продан[аоы]?|угнан[аоы]?|угнали|украли|сгорел[аои]?|утонул[аои]?|отдал[аи]? (?:даром|насовсем|знакомым|друзьям|родителям))(?![\p{L}])/iu,
      topics:
        /^(?:car|has: (?!дет|сын|доч|реб|брат|сестр)|my: (?:машин|автомоб|велосипед|лодк|мотоцикл|квартир|дом|дач|гитар|пианин))/,
    },
    {
      words:
        /(?<![\p{L}])(?:умер(?:ла)?|погиб(?:ла)?|усыпил[аи]?|похоронил[аи]?|скончал(?:ся|ась)|не стало|сдох(?:ла)?|пристроил[аи]?|наш(?:ел|ла|ли) нов\p{L}+ (?:дом|хозя\p{L}+)|обрел[аи]? нов\p{L}+ (?:дом|хозя\p{L}+))(?![\p{L}])/iu,
      topics:
        /^(?:name of|my|has): (?:собак|пес|пс|щен|кот|кошк|котен|попуга|хомяк|кролик|рыб|черепах|лошад|птиц|морск|питом)/,
    },
    {
      words:
        /(?<![\p{L}])(?:уш(?:ел|ла|ли)|уволил(?:ся|ась|и)|сократили|покинул[аи]?|распрощал(?:ся|ась)|расстал(?:ся|ась)|отчислил(?:ся|ась|и)|окончил[аи]?|закончил[аи]?|выпустил(?:ся|ась)|позади|в прошлом)(?![\p{L}])/iu,
      topics: /^(?:employer|studies)/,
    },
    {
      words:
        /(?<![\p{L}])(?:(?:за)?бросил[аи]?|перестал[аи]?|прекратил[аи]?|оставил[аи]?|завязал[аи]?|покончил[аи]?|остыл[аи]?|охладел[аи]?|забил[аи]?|закрыл(?:ся|ась|ось|ись)|распал(?:ся|ась|ось|ись))(?![\p{L}])/iu,
      topics: /^(?:activity|learning|habit|drinks|my: хобб)/,
    },
    {
      words:
        /(?<![\p{L}])(?:отменил[аи]?|отменил(?:ся|ась|ось|ись)|отменяется|сорвал(?:ся|ась|ось|ись)|накрыл(?:ся|ась|ось|ись)|передумал[аи]?|раздумал[аи]?|отпал[аио]?)(?![\p{L}])/iu,
      topics: /^(?:wedding|appointment|plan|goal|my: (?:свадьб|операц|отпуск|цел|план))/,
    },
    {
      words:
        /(?<![\p{L}])(?:мой бывший|моя бывшая|уш(?:ел|ла) (?:от меня|к друг\p{L}+)|от меня уш(?:ел|ла)|съехал[аи]?|расстал(?:ся|ась|ись)|разош(?:елся|лась|лись)|развел(?:ся|ась|ись)|разбежались|в разводе|порвал[аи]?|бросил[аи]?|умер(?:ла)?)(?![\p{L}])/iu,
      topics: /^(?:name of|my|has): (?:девушк|парен|парн|муж|жен|супруг|невест|жених)/,
    },
    {
      words: /(?<![\p{L}])(?:покинул[аи]?|уехал[аи]?|переехал[аи]?|съехал[аи]?|оставил[аи]?)(?![\p{L}])/iu,
      topics: /^residence/,
    },
    {
      words: /(?<![\p{L}])(?:забыл[аи]?)(?![\p{L}])/iu,
      topics: /^(?:language|ability)/,
    },
    {
      words: /(?<![\p{L}])(?:отменил[аи]?|снял[аи]?|перестал[аи]?|прекратил[аи]?)(?![\p{L}])/iu,
      topics: /^medicine/,
    },
    {
      words:
        /(?<![\p{L}])(?:прош(?:ел|ла|ло|ли)|перерос(?:ла|ли)?|вылечил[аи]?|поборол[аи]?|преодолел[аи]?|исчез(?:ла|ло|ли)?)(?![\p{L}])/iu,
      topics: /^(?:allergy|health|fear|intolerance)/,
    },
  ],
};
