import { analyse } from '#search/analysis/analyse';
import type { EndedValue } from './ended-values.ts';

/** Words of a clause that ends something, wherever they stand in it, and the topics that they can end. */
type ClauseEnding = {
  readonly words: RegExp;
  readonly topics: RegExp;
  /** Words for the time that the whole clause must also have, because the end can be one for the day. */
  readonly lasting?: RegExp;
};

/** Verbs of which the denial for good ends something, and the topics that it can end. */
type Denial = { readonly verbs: RegExp; readonly topics: RegExp };

type ClauseLanguage = {
  readonly endings: readonly ClauseEnding[];
  /** Where one clause ends and the next begins. */
  readonly between: RegExp;
  /** Words for the time and the reason of an end, which do not belong to what has ended. */
  readonly circumstances: readonly RegExp[];
  /** A clause of others, about something indefinite, denied, planned or for a while. */
  readonly barred: RegExp;
  /** Words that deny what was so for good; the group `verb` is what they deny: "can't watch … any more". */
  readonly denied: readonly RegExp[];
  /** "I can't walk the dog any more" denies no dog, so each topic has verbs of its own. */
  readonly denials: readonly Denial[];
  /** Terms that name no value: "finished work" is about every job. */
  readonly general: ReadonlySet<string>;
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
    if (held !== undefined) {
      if (barred.test(held.rest)) return [];
      const rest = withoutAll(circumstances, held.rest);
      return language.denials.flatMap(({ verbs, topics }) =>
        verbs.test(held.verb) ? endedBeside(language, rest, topics) : [],
      );
    }
    if (barred.test(clause)) return [];
    const body = withoutAll(circumstances, clause);
    return endings.flatMap(({ words, topics, lasting }): readonly EndedValue[] => {
      const found = words.exec(body);
      if (found === null || lasting?.test(clause) === false) return [];
      const rest = `${body.slice(0, found.index)} ${body.slice(found.index + found[0].length)}`;
      return endedBeside(language, rest, topics);
    });
  });
}

function withoutAll(patterns: readonly RegExp[], clause: string): string {
  return patterns.reduce((rest, words) => rest.replace(words, ' '), clause);
}

function endedBeside({ beside, general }: ClauseLanguage, rest: string, topics: RegExp): readonly EndedValue[] {
  const terms = analyse(rest).filter((term) => !beside.has(term));
  return terms.every((term) => general.has(term)) ? [] : [{ terms, topics }];
}

type DeniedClause = { readonly verb: string; readonly rest: string };

/** The verb that a clause denies for good, and the rest of the clause; undefined for a clause that denies nothing. */
function deniedIn({ denied }: ClauseLanguage, clause: string): DeniedClause | undefined {
  for (const words of denied) {
    const found = words.exec(clause);
    if (found === null) continue;
    const rest = clause
      .replace(words, ' ')
      .replace(/(?<!\p{L})(?:any ?more|any longer|nowadays|these days|больше|уже)(?!\p{L})/giu, ' ');
    return { verb: found.groups?.['verb']?.trim() ?? '', rest };
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
const tastes = '^(?:taste|favourite|preference|drinks|eats)';
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
    /(?:^|(?<!\p{L})(?:I|we) )(?:really |just |simply )?(?:(?:ca|could|do|did|have|would)n't|cannot|(?:can|could|do|did|am|are|have|would) not) (?:really |even )?(?<verb>(?:want to )?\p{L}+ )(?=[^.!?]*(?<!\p{L})(?:anymore|any more|any longer)(?=[\s.!]*$|,| (?:because|since|due|after|thanks|now)(?!\p{L})))/iu,
    /(?<!\p{L})I'm not (?<verb>into |\p{L}+ing )(?=[^.!?]*(?<!\p{L})(?:anymore|any more|any longer)(?=[\s.!]*$|,| (?:because|since|due|after|thanks|now)(?!\p{L})))/iu,
    /(?:^|(?<!\p{L})(?:I|we|I'm|I am) )(?:can )?no longer (?<verb>(?:want to )?\p{L}+ )/iu,
  ],
  denials: [
    {
      verbs:
        /^(?:(?:want to )?(?:eat(?:ing)?|drink(?:ing)?|watch(?:ing)?|read(?:ing)?|listen(?:ing)?|enjoy(?:ing)?)|like|love|stand|stomach|into)$/iu,
      topics: new RegExp(tastes),
    },
    {
      verbs: /^(?:(?:want to )?(?:play(?:ing)?|do(?:ing)?|practi[sc](?:e|ing)|learn(?:ing)?)|into)$/iu,
      topics: /^(?:activity|learning|my: (?:hobb|sport))/,
    },
    { verbs: /^(?:(?:want to )?(?:us(?:e|ing)|pay(?:ing)?)|have|need)$/iu, topics: /^uses/ },
    { verbs: /^(?:wear(?:ing)?|need)$/iu, topics: /^(?:trait|wear|habit)/ },
    { verbs: /^(?:support(?:ing)?|follow(?:ing)?|care|into)$/iu, topics: /^supports/ },
    { verbs: /^(?:want to \p{L}+|plan|intend|aim|dream)$/iu, topics: /^(?:goal|plan|my: (?:goal|plan))/ },
  ],
  general: termsOf(
    'work works working worked job jobs shift study studies studying learn learning play plays playing practise practice eat eats eating drink drinks drinking take takes taking use uses using live lives living go goes going wear wears like likes love loves watch watching read reading speak speaks speaking school college uni university office company shop',
  ),
  beside: termsOf(
    "i i'm i've we we've we're me us my our the this that these those is are was were am be been being has have had do did does got get getting just finally recently let already sadly luckily now actually completely totally really all then also too both old former previous to from of at on in with by for up out over down off away decided chose had myself ourselves own club class classes course courses lesson lessons membership account subscription contract days time years career chapter stint phase thing habit hobby doctor doctors app service care less about interested into",
  ),
  endings: [
    {
      words:
        /(?<!\p{L})(?:lapsed?|expired?|cancell?ed|terminated|discontinued|unsubscribed|uninstalled|deactivated|deleted|ditched|dumped|dropped|given up|gave up|got rid|stopped (?:using|paying))(?!\p{L})(?<!(?:gym|bank|provider|insurer) (?:has |have |had |just )*cancell?ed)(?!.*(?<!\p{L})(?:class|classes|course|lessons?)(?!\p{L}))/iu,
      topics: new RegExp(services),
    },
    {
      words:
        /(?<!\p{L})(?:sold|stolen|totall?ed|wrecked|scrapped|donated|given away|gave away|repossessed|written off|wrote off|traded in|junked|auctioned|burned down|burnt down|sank|got rid|parted with|parted ways)(?!\p{L})/iu,
      topics: new RegExp(things),
    },
    {
      words:
        /(?<!\p{L})(?:died|dead|passed away|passed on|(?:was|were|been|be|got) put (?:down|to sleep)|rehomed|buried|given away|gave away|given up for adoption)(?!\p{L})/iu,
      topics: new RegExp(pets),
    },
    {
      words:
        /(?<!\p{L})(?:quit|left|fired|sacked|laid off|let go|resigned|behind me|behind us|(?:was|were|been|got) dismissed|history|dropped out|expelled|graduated|kicked out|walked out|parted ways|handed in (?:my|our) notice)(?!\p{L})/iu,
      topics: new RegExp(places),
    },
    {
      words:
        /(?<!\p{L})(?:folded|shut down|closed down|disbanded|went (?:bust|under|bankrupt)|gone (?:bust|bankrupt)|dissolved|retired from|quit)(?!\p{L})/iu,
      topics: new RegExp(`${pursuits}|^employer`),
    },
    {
      words:
        /(?<!\p{L})(?:packed (?:it )?in|jacked in|given up|gave up|giving up|lost interest|got bored (?:of|with))(?!\p{L})/iu,
      topics: new RegExp(pursuits),
    },
    {
      words:
        /(?<=(?<!\p{L})(?:days|time|years|career|chapter|stint|phase) (?:\p{L}+ ){1,4})(?:is|are|was|were|has|have) (?:now |long |finally |well and truly )?(?:over|done|finished|ended|behind (?:me|us)|past|gone|come to an end)(?!\p{L})/iu,
      topics: /^(?:employer|studies|activity|learning|habit)/,
    },
    {
      words:
        /(?<!\p{L})(?:took (?:me|us) off|taken off|weaned|came off|stopped(?! (?:to|at|by|for|in|on|off))|discontinued)(?!\p{L})/iu,
      topics: /^(?:medicine|my: medic)/,
    },
    {
      words:
        /(?<!\p{L})(?:called off|cancell?ed|scrapped|shelved|abandoned|fell through|fallen through|dropped|bailed|off the table|(?<!(?<!\p{L})we )(?:is|are) (?:now |all )?off(?=[\s.!]*$)|on ice|dead in the water)(?!\p{L})/iu,
      topics: new RegExp(plans),
    },
    {
      words:
        /(?<!\p{L})(?:is my ex|is an ex|dumped|split up|split|broke up|broken up|broke it off|divorced|(?<!got )separated|ended things|ended it|cheated on me|walked out on me|left me|widowed|died|passed away)(?!\p{L})/iu,
      topics: new RegExp(partners),
    },
    {
      words: /(?<!\p{L})(?:moved away|moved out|sold up|upped sticks)(?!\p{L})/iu,
      topics: /^residence/,
    },
    {
      words: /(?<!\p{L})(?:left|gone from)(?!\p{L})/iu,
      topics: /^residence/,
      lasting: /(?<!\p{L})(?:for good|for ?ever|once and for all|years? ago|last year)(?!\p{L})/iu,
    },
    {
      words: /(?<!\p{L})(?:forgotten|rusted away)(?!\p{L})/iu,
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
    /(?<![\p{L}])(?:больше|уже|теперь) (?:вообще |совсем |никогда )?(?<verb>(?:\p{L}+(?:ть|ться|ти|чь) )?не (?:\p{L}+(?:ю|у|юсь|усь|ем|им|емся|имся)|нужн\p{L}+|нужен|интерес\p{L}+|нравится|нравятся)(?![\p{L}])(?: \p{L}+(?:ть|ться|ти|чь)(?![\p{L}]))?)(?! (?:на|в|у|при|до|перед) )/iu,
    /(?<![\p{L}])(?<verb>не (?:\p{L}+(?:ю|у|юсь|усь|ем|им)|нужн\p{L}+|нужен)) (?:больше|уже)(?=[\s.!]*$)/iu,
  ],
  denials: [
    {
      verbs:
        /^(?:не (?:пью|пьем|ем|едим|смотрю|смотрим|слушаю|читаю|люблю|интерес\p{L}+|нравится|нравятся)|(?:смотреть|слушать|читать) не (?:хочу|могу|буду|стану)|не (?:хочу|могу|буду|стану) (?:смотреть|слушать|читать))$/iu,
      topics: new RegExp(tastes),
    },
    {
      verbs: /^(?:не (?:играю|играем|учу|занимаюсь|занимаемся|увлекаюсь|интерес\p{L}+))$/iu,
      topics: /^(?:activity|learning|my: хобб)/,
    },
    { verbs: /^не (?:пользуюсь|пользуемся|использую|нужн\p{L}+|нужен)$/iu, topics: /^uses/ },
    { verbs: /^не (?:ношу|нужн\p{L}+|нужен)$/iu, topics: /^(?:trait|wear|habit)/ },
    { verbs: /^не (?:болею|слежу|интерес\p{L}+)$/iu, topics: /^supports/ },
    {
      verbs: /^(?:\p{L}+(?:ть|ться|ти|чь) не (?:хочу|буду|стану)|не (?:хочу|буду|стану) \p{L}+(?:ть|ться|ти|чь))$/iu,
      topics: /^(?:goal|plan|my: (?:цел|план))/,
    },
  ],
  general: termsOf(
    'работа работу работы работе работой работать работаю работал работала смена смену учеба учебу учебы учить учиться учусь учу учил учила изучать изучаю играть играю играл играла игра игру пить пью есть ем принимать принимаю использовать пользуюсь жить живу заниматься занимаюсь хожу ходить езжу школа школу школы универ универа институт института университет университета вуз офис офиса компания компанию компании',
  ),
  beside: termsOf(
    'коллекция коллекцию почту почта ящик аллергию аллергия хочу могу буду стану алло вообще я мы меня нас мне нам мой моя мое мои моего моей мою наш наша наше наши нашу свой свою свое своего это эта этот эту тот та ту был была было были есть в во на из с со к ко у от для за по про наконец недавно уже теперь давно увы совсем полностью тоже и пришлось решил решила решили курсы курс уроки занятия клуб кружок секция секцию абонемент подписка подписку счет карту аккаунт договор дела дело врач доктор сам сама своими',
  ),
  endings: [
    {
      words:
        /(?<![\p{L}])(?:(?:отменил|удалил|расторг|отписал(?:ся|ась)?|снес|забросил)[аи]?|закрыл[аи]?(?= (?:счет|карту|аккаунт))|(?<=(?:счет|карту|аккаунт) [^,.]{0,40})закрыл[аи]?)(?![\p{L}])/iu,
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
        /(?<![\p{L}])(?:(?:за)?бросил[аи]?|перестал[аи]?|прекратил[аи]?|завязал[аи]?|покончил[аи]?|остыл[аи]?|охладел[аи]?|забил[аи]? на|распал(?:ся|ась|ось|ись))(?![\p{L}])/iu,
      topics: /^(?:activity|learning|habit|drinks|my: хобб)/,
    },
    {
      words:
        /(?<![\p{L}])(?:отменил[аи]?|отменил(?:ся|ась|ось|ись)|отменяется|сорвал(?:ся|ась|ось|ись)|накрыл(?:ся|ась|ось|ись)|передумал[аи]?|раздумал[аи]?|отпал[аио]?)(?![\p{L}])/iu,
      topics: /^(?:wedding|appointment|plan|goal|my: (?:свадьб|операц|отпуск|цел|план))/,
    },
    {
      words:
        /(?<![\p{L}])(?:мой бывший|моя бывшая|уш(?:ел|ла) (?:от меня|к друг(?:ому|ой))|от меня уш(?:ел|ла)|съехал[аи]?|расстал(?:ся|ась|ись)|разош(?:елся|лась|лись)|развел(?:ся|ась|ись)|разбежались|в разводе|порвал[аи]?|бросил[аи]?|умер(?:ла)?)(?![\p{L}])/iu,
      topics: /^(?:name of|my|has): (?:девушк|парен|парн|муж|жен|супруг|невест|жених)/,
    },
    {
      words: /(?<![\p{L}])(?:покинул[аи]?|уехал[аи]?|переехал[аи]?|съехал[аи]?|оставил[аи]?)(?![\p{L}])/iu,
      topics: /^residence/,
      lasting: /(?<![\p{L}])(?:навсегда|насовсем|окончательно|(?:год|года|лет) назад)(?![\p{L}])/iu,
    },
    {
      words: /(?<![\p{L}])(?:(?:совсем|полностью|напрочь) забыл[аи]?)(?![\p{L}])/iu,
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
