/** Words that state a value of a kind, and the topics of that kind. */
type KindWords = readonly (readonly [words: RegExp, topics: RegExp])[];

const work = /^(?:employer|job)$/;
/** For whom somebody works, not in which job. */
const employer = /^employer$/;
const residence = /^residence$/;
const married = /^marital status$/;
const name = '(?-i:\\p{Lu})\\p{L}+(?: (?-i:\\p{Lu})\\p{L}+)?';
const ownBusiness = '(?:business|company|firm|shop|studio|practice|agency|startup|restaurant|salon)';
const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';

/** The end of a part of a sentence. A longer phrase has another meaning: "single malt", "engaged in a project". */
const partEnd = '(?=$|[,.!;]| (?:now|again|these|since|and|but|so|officially)(?!\\p{L}))';

/**
 * Matches words at the beginning of the sentence or after its subject, the speaker. A later part without a subject has
 * the subject of the previous part, so it counts only if that subject is the speaker: "Tom quit, retired early".
 */
const englishStart = (words: string): RegExp =>
  new RegExp(
    `(?:^|(?<=^(?:I|we)(?!\\p{L})(?:(?!(?-i:(?!I(?!\\p{L}))\\p{Lu})|(?<!\\p{L})(?:s?he|they|who|that|which)(?!\\p{L}))[^.!?])*)[,:;–—-] |(?<!\\p{L})(?<!(?<!\\p{L})(?:when|after|before|since|until|till|once|if|as|and) )(?:I|we)(?:'ve|'m|'re| have| am| are| was)? )(?:(?:just|recently|finally|already|also|now|since|officially|actually|then) )*(?:${words})(?!\\p{L})`,
    'iu',
  );

/** Phrases that change a value of the speaker in every context. */
export const englishClassEvents: KindWords = [
  [
    englishStart(
      `(?:packed (?:up )?(?:our|my|the) \\p{L}+(?: up)?,? and )?(?:headed|went|left|moved|off|flew|drove|took off)(?: \\p{L}+){0,2} (?:to|for) ${name} (?:for good|for a (?:fresh|new) (?:start|life|beginning)|to start (?:over|afresh|anew)|permanently|forever)`,
    ),
    residence,
  ],
  [
    englishStart(
      `(?:got |been |being )?(?:poached|headhunted|recruited|hired) by (?-i:\\p{Lu})\\p{L}+(?!.*(?<!\\p{L})(?:but|declined|refused|almost|nearly)(?!\\p{L}))`,
    ),
    employer,
  ],
  [
    englishStart(
      `(?:took|taken|taking|opted for|went into|going into) (?:early |my |well-earned )*retirement|retired(?=$|[,.!]| (?:in (?:\\d{4}|january|february|march|april|may|june|july|august|september|october|november|december)|from (?:work|teaching|nursing)|last (?:year|month|spring|summer|autumn|fall|winter)|early(?=$|[,.!])))|(?:hung|hanging) up my (?:scrubs|apron|gloves|badge) (?:for good|last (?:year|month|spring|summer|autumn|fall|winter))|retrained as`,
    ),
    work,
  ],
  [englishStart('(?:went|gone|turned) (?:freelance|self-employed)'), employer],
  [
    /(?<!\p{L})(?:we|I)(?:'ve| have)? (?:just |finally |recently |all )*(?:tied the knot|got hitched|eloped|signed the divorce papers)(?!\p{L})/iu,
    married,
  ],
  [englishStart(`(?:am )?back (?:on|to)(?: eating)? ${meat}`), /^diet/],
  [
    englishStart(
      '(?:turned|hit|reached) the big (?:three|four|five|six|seven|3|4|5|6|7)[ -]?(?:oh?|0)(?! (?:deal|sale|party|match))',
    ),
    /^age$/,
  ],
  [
    englishStart(
      '(?:(?:an?|one|two|three|\\d+|almost a|over a) )?(?:months?|years?) (?:without (?:an? (?:single )?)?|free of |off |since (?:my|the) last )(?:cigarettes?|smokes?|smoking|nicotine|tobacco)',
    ),
    /^smoking/,
  ],
];

/**
 * Phrases that state a value of the speaker, and change it together with words for a lasting present, such as "now".
 */
export const englishClassStates: KindWords = [
  [
    new RegExp(
      `(?:^|[,:;] )${name} (?:is|has been|became|has become)(?: now)? (?:my|our) (?:new )?home(?! (?:of|to|for|town|page|office|work|game|match|screen|team))(?!\\p{L})`,
      'iu',
    ),
    residence,
  ],
  [
    englishStart('(?:(?:my|our) )?(?:new )?(?:address|place|flat|house|home) is (?:now )?in (?-i:\\p{Lu})\\p{L}+'),
    residence,
  ],
  [englishStart(`(?:based|living|settled) (?:in|near) ${name}`), residence],
  [
    englishStart(
      `(?:self-employed|freelanc(?:e|er|ing)|an? freelancer|my own boss|our own boss|work(?:ing)? for (?:myself|ourselves)|run(?:ning)? my own ${ownBusiness}|between jobs)`,
    ),
    employer,
  ],
  [
    englishStart(
      '(?:retired|unemployed|jobless|out of work|out of a job|an? stay-at-home (?:mum|mom|dad|parent)|training (?:as|to be|to become) an?)',
    ),
    work,
  ],
  [
    englishStart(
      `(?:officially |newly |happily |back to being )*(?:single|divorced|separated|engaged|taken|widowed|an? widow(?:er)?|spoken for|an item|a couple)${partEnd}`,
    ),
    married,
  ],
  [
    englishStart(
      `(?:have|got|have got|'ve got|found) an? (?:new )?(?:girlfriend|boyfriend|fianc[eé]e?|husband|wife)${partEnd}`,
    ),
    married,
  ],
  [englishStart(`eat ${meat}`), /^diet/],
];

/** Acts of other people that change a value of the speaker. */
export const englishBefalls: KindWords = [
  [
    /^(?:s?he|my (?:boyfriend|girlfriend|partner)) (?:has |just |finally |actually )*(?:proposed|popped the question)(?: to me)?,? and (?:of course )?I (?:happily |gladly |actually )?(?:said yes|accepted)(?=$|[\s]*[.!,])/iu,
    married,
  ],
  [
    /^my (?:husband|wife|partner) (?:and I )?(?:has |have |just |finally )*(?:left me(?=[\s.!]*$|,| for (?:another|someone))|walked out on me|died|passed away|filed for (?:a )?divorce|are no longer together(?=[\s.!]*$|,))(?!\p{L})/iu,
    married,
  ],
];

/** Matches Russian words at the beginning of the sentence or after its subject, the speaker. */
const russianStart = (words: string): RegExp =>
  new RegExp(
    `(?:^(?:в \\p{L}+ )?|(?<=^(?:я|мы)(?![\\p{L}])(?:(?!(?-i:[А-ЯЁ])|(?<![\\p{L}])(?:он|она|они|котор\\p{L}+)(?![\\p{L}]))[^.!?])*)[,:;–—-] |(?<![\\p{L}])(?<!(?<![\\p{L}])(?:когда|если|пока|как|и) )(?:я|мы) )(?:(?:наконец|недавно|уже|теперь|вчера|сегодня|официально|весной|летом|осенью|зимой|давно|снова|сам|сама|потом|тоже) )*(?:${words})(?![\\p{L}])`,
    'iu',
  );

const russianName = '(?-i:\\p{Lu})\\p{L}+(?:[ -](?-i:\\p{Lu})\\p{L}+)?';
const russianBusiness = '(?:бизнес|дело|фирму|компанию|мастерскую|студию|магазин|салон|кафе|ип)';
/** Russian words that mean an inhabitant, such as "I am from Kaluga" in one word. */
const inhabitant =
  '(?:\\p{L}{2,14}(?:жанин|чанин|шанин|тянин|жанка|чанка|шанка|тянка|жане|чане|шане|тяне|буржец|бурженка|буржцы)|(?:москв|ом|том|костром|твер|вят)ич(?:ка|и)?|(?:тул|перм|сибир|помор)як(?:и)?|питер(?:ец|цы))';

export const russianClassEvents: KindWords = [
  [
    russianStart(
      `(?:собрал[аи]? \\p{L}+ и )?(?:махнул|рванул|уехал|переехал|перебрал|укатил|подал|умотал)(?:[аи]|ся|ась|ись)? (?:жить )?(?:в|на) ${russianName} (?:насовсем|навсегда|с концами|на пмж|окончательно|жить)`,
    ),
    residence,
  ],
  [
    /(?<![\p{L}])(?:меня|нас) (?:(?!не |почти |чуть |едва )\p{L}+ )?(?:(?:переманил|сманил|схантил|нанял)и|взяли на работу) (?:в|во) (?-i:\p{Lu})\p{L}+/iu,
    employer,
  ],
  [russianStart('(?:вышел|вышла|ушел|ушла|выхожу|ухожу) на пенсию'), work],
  [russianStart('(?:вышел|вышла|ушел|ушла) (?:во фриланс|на фриланс|на вольные хлеба)'), employer],
  [
    russianStart(
      '(?:получил|подписал)[аи]? (?:штамп|свидетельство|бумаги|документы) о разводе|(?:штамп|свидетельство) о разводе (?:получил|поставил)[аи]?',
    ),
    married,
  ],
  [
    /(?<![\p{L}])(?:(?:мы )?с (?:мужем|женой|супругом|супругой) (?:мы )?(?:больше не вместе|уже не вместе|разбежались|в разводе)(?=[\s.!]*$|,)|мне сделали предложение руки)(?![\p{L}])/iu,
    married,
  ],
  [russianStart(`(?:вернул(?:ся|ась)|снова перешел|снова перешла) (?:к|на) мяс[уо]`), /^diet/],
  [
    russianStart(
      'отчислил(?:ся|ась)|(?:бросил|забросил)[аи]? (?:универ\\p{L}*|институт|вуз|учебу|колледж)|поступил[аи]? учиться на',
    ),
    /^studies/,
  ],
  [
    russianStart(
      '(?:разменял[аи]? (?:уже |свой )?\\p{L}+ десяток|мне пош[её]л \\p{L}+ десяток|(?:отметил|отпраздновал|справил)[а]? (?:свое|мое) (?:\\d0-летие|\\p{L}+десятилетие|сорокалетие|тридцатилетие))',
    ),
    /^age$/,
  ],
  [
    russianStart(
      '(?:год|месяц|полгода|\\p{L}+ (?:лет|года|месяцев|месяца)) (?:(?:уже|как) )?(?:без (?:сигарет\\p{L}*|курения|никотина|табака)|не курю)',
    ),
    /^smoking/,
  ],
];

export const russianClassStates: KindWords = [
  [new RegExp(`(?<![\\p{L}])(?:мой|наш) дом (?:теперь )?(?:в|на|под) ${russianName}`, 'iu'), residence],
  [
    new RegExp(
      `(?<![\\p{L}])(?:я|мы) (?:теперь |уже |официально |настоящ\\p{L}+ )*${inhabitant}(?=[\\s.!]*$|[,;])`,
      'iu',
    ),
    residence,
  ],
  [
    russianStart(
      `(?:(?:сам|сама) )?(?:(?:работаю|тружусь) )?(?:сам |сама )?на себя(?: работаю)?|самозанят(?:ый|ая)|фриланс(?:ер|ерша|им|ю)|на (?:фрилансе|вольных хлебах)|(?:веду|держу) (?:свое|свою|свой) ${russianBusiness}`,
    ),
    employer,
  ],
  [russianStart('(?:на пенсии|без работы|безработн(?:ый|ая))'), work],
  [
    /(?<![\p{L}])у меня (?:теперь |уже |наконец |снова |есть |появил(?:ся|ась) )+(?:девушка|парень|жених|невеста|муж|жена)(?=[\s.!]*$|,)/iu,
    married,
  ],
  [/(?<![\p{L}])(?:я )(?:теперь |официально |снова |уже )+(?:невеста|жених)(?=[\s.!]*$|,)/iu, married],
];

export const russianBefalls: KindWords = [
  [
    /^(?:он|она|(?:мой |моя )?(?:парень|девушка|молодой человек)) (?:мне )?(?:наконец |вчера |наконец-то )?сделал[а]? (?:мне )?предложение(?: руки)?,? (?:и |а )?(?:я )?(?:\p{L}+ )?(?:согласил(?:ся|ась)|сказал[а]? да|ответил[а]? да)(?=[\s.!]*$|,)/iu,
    married,
  ],
  [
    /^(?:мой |моя )?(?:муж|жена|супруг|супруга) (?:от меня )?(?:уш(?:ел|ла) (?:от меня|к друг(?:ой|ому)(?=[\s.!]*$|,))|умер(?:ла)?|подал[а]? на развод)(?![\p{L}])/iu,
    married,
  ],
];
