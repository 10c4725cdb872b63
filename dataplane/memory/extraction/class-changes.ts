/** Words that state a value of a kind, and the topics of that kind. */
type KindWords = readonly (readonly [words: RegExp, topics: RegExp])[];

const work = /^(?:employer|job)$/;
/** Whom somebody works for, and not what as. */
const employer = /^employer$/;
const residence = /^residence$/;
const married = /^marital status$/;
const name = '(?-i:\\p{Lu})\\p{L}+(?: (?-i:\\p{Lu})\\p{L}+)?';
const ownBusiness = '(?:business|company|firm|shop|studio|practice|agency|startup|restaurant|salon)';
const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';

/** A longer phrase says something else: "single malt", "engaged in a project". */
const partEnd = '(?=$|[,.!;]| (?:now|again|these|since|and|but|so|officially)(?!\\p{L}))';

/** Matches words at the beginning of a part of the sentence or behind its subject, the speaker. */
const englishStart = (words: string): RegExp =>
  new RegExp(
    `(?:^|[,:;–—-] |(?<!\\p{L})(?:I|we)(?:'ve|'m|'re| have| am| are| was)? )(?:(?:just|recently|finally|already|also|now|since|officially|actually|then) )*(?:${words})(?!\\p{L})`,
    'iu',
  );

/** What changes a value of the speaker whatever else the sentence says. */
export const englishClassEvents: KindWords = [
  [
    englishStart(
      `(?:packed (?:up )?(?:our|my|the) \\p{L}+(?: up)?,? and )?(?:headed|went|left|moved|off|flew|drove|took off)(?: \\p{L}+){0,2} (?:to|for) ${name} (?:for good|for a (?:fresh|new) (?:start|life|beginning)|to start (?:over|afresh|anew)|permanently|forever)`,
    ),
    residence,
  ],
  [
    englishStart(
      `(?:got |been |being )?(?:poached|headhunted|snapped up|recruited|hired|taken on) by (?!accident|mistake)\\p{L}+`,
    ),
    employer,
  ],
  [
    englishStart(
      `(?:took|taken|taking|opted for|went into|going into) (?:early |my |well-earned )*retirement|retired(?=$|[,.!]| (?:in|at|from|last|early|this|after|for))|(?:hung|hanging) up my (?!phone|coat|call|keys|jacket|picture|washing|laundry|clothes)\\p{L}+|retrain(?:ed|ing) (?:as|to)`,
    ),
    work,
  ],
  [
    englishStart(
      `(?:went|gone|going|turned) (?:freelance|self-employed|solo)|(?:set up|started|opened|founded|launched) (?:my|our) own ${ownBusiness}`,
    ),
    employer,
  ],
  [
    /(?<!\p{L})(?:we|I)(?:'ve| have)? (?:just |finally |recently |all )*(?:tied the knot|got hitched|eloped|called it quits|signed the (?:divorce )?papers|went our separate ways|parted for good)(?!\p{L})/iu,
    married,
  ],
  [
    englishStart(
      `(?:caved|cracked|gave in|slipped up|lapsed|relapsed),? (?:in )?(?:and )?(?:I )?(?:had|ate|ordered|tried) (?:(?:an?|some|the|my first) )*${meat}|(?:am )?back (?:on|to)(?: eating)? ${meat}`,
    ),
    /^diet/,
  ],
  [englishStart('(?:gone|went|going) (?:fully |all )?electric'), /^(?:car|my: car|has: car)/],
  [
    /(?<!\p{L})(?:the big (?:three|four|five|six|seven|3|4|5|6|7)[ -]?(?:oh?|0)(?! (?:deal|sale|party|match))|(?:my|turned my) (?:\d0th|thirtieth|fortieth|fiftieth|sixtieth) (?:birthday )?(?:was|is|came))(?!\p{L})/iu,
    /^age$/,
  ],
  [
    englishStart(
      '(?:(?:an?|one|two|three|\\d+|almost a|over a) )?(?:days?|weeks?|months?|years?) (?:without (?:an? (?:single )?)?|free of |off |since (?:my|the) last )(?:cigarettes?|smokes?|smoking|nicotine|tobacco)',
    ),
    /^smoking/,
  ],
];

/** What states a value of the speaker, and changes it beside words for a lasting present, such as "now". */
export const englishClassStates: KindWords = [
  [
    new RegExp(
      `(?:^|[,:;] )${name} (?:is|has been|became|has become)(?: now)? (?:my |our )?(?:new )?home(?! (?:of|to|for|town|page|office|work|game|match|screen|team))(?!\\p{L})`,
      'iu',
    ),
    residence,
  ],
  [englishStart('(?:(?:my|our) )?(?:new )?(?:address|place|flat|house|home) is (?:now )?(?:in|at|near)'), residence],
  [englishStart(`(?:based|living|settled|at home) (?:in|near) ${name}`), residence],
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
      `(?:have|got|have got|'ve got|found) an? (?:new )?(?:girlfriend|boyfriend|fianc[eé]e?|partner|husband|wife)${partEnd}`,
    ),
    married,
  ],
  [englishStart(`eat(?:ing)? (?:some )?${meat}`), /^diet/],
];

/** What others do that changes a value of the speaker, who is not its subject. */
export const englishBefalls: KindWords = [
  [
    /^(?:s?he|my (?:boyfriend|girlfriend|partner)) (?:has |just |finally |actually )*(?:proposed|popped the question)(?: to me)?[ ,]+(?:\p{L}+ ){0,4}?I (?:\p{L}+ )?(?:said yes|accepted|agreed)(?!\p{L})/iu,
    married,
  ],
  [
    /^my (?:husband|wife|partner) (?:and I )?(?:has |have |just |finally )*(?:left me|walked out on me|died|passed away|filed for (?:a )?divorce|are (?:no longer|not) together)(?!\p{L})/iu,
    married,
  ],
];

/** The same for Russian. */
const russianStart = (words: string): RegExp =>
  new RegExp(
    `(?:^|[,:;–—-] |(?<![\\p{L}])(?:я|мы) )(?:(?:наконец|недавно|уже|теперь|вчера|сегодня|официально|весной|летом|осенью|зимой|давно|снова|сам|сама|потом|тоже) )*(?:${words})(?![\\p{L}])`,
    'iu',
  );

const russianName = '(?-i:\\p{Lu})\\p{L}+(?:[ -](?-i:\\p{Lu})\\p{L}+)?';
const russianBusiness = '(?:бизнес|дело|фирму|компанию|мастерскую|студию|магазин|салон|кафе|ип)';
const russianMeat = '(?:мясо|курицу|рыбу|говядину|свинину|бекон|стейки?|котлеты|баранину|индейку|колбасу|шашлык)';
/** "I am from Kaluga" in one word. */
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
    /(?<![\p{L}])(?:меня|нас) (?:(?!не |почти |чуть |едва )\p{L}+ )?(?:(?:переманил|сманил|схантил|нанял)и|взяли на работу) (?:в|во|на|к)(?![\p{L}])/iu,
    employer,
  ],
  [russianStart(`(?:вышел|вышла|ушел|ушла|выхожу|ухожу) (?:на пенсию|в декрет)`), work],
  [
    russianStart(
      `(?:вышел|вышла|ушел|ушла|выхожу|ухожу) (?:во фриланс|на фриланс|на вольные хлеба)|(?:открыл|основал|завел)[аи]? (?:свое|свою|свой|собственн\\p{L}+) ${russianBusiness}`,
    ),
    employer,
  ],
  [
    /(?<![\p{L}])(?:(?:штамп|свидетельство|бумаги|документы) о разводе|(?:мы )?с (?:мужем|женой|супругом|супругой) (?:мы )?(?:больше не вместе|уже не вместе|разъехались|живем отдельно|разбежались|в разводе)|мы (?:больше|уже) не вместе|мне сделали предложение(?=[\s.!]*$|,| руки))(?![\p{L}])/iu,
    married,
  ],
  [
    russianStart(
      `сорвал(?:ся|ась),? (?:и )?(?:снова |опять )?(?:ем|съел[аи]?|поел[аи]?) ${russianMeat}|(?:вернул(?:ся|ась)|снова перешел|снова перешла) (?:к|на) мяс[уо]`,
    ),
    /^diet/,
  ],
  [
    russianStart(
      'отчислил(?:ся|ась)|(?:бросил|забросил)[аи]? (?:универ\\p{L}*|институт|вуз|учебу|колледж)|поступил[аи]? (?:учиться )?на',
    ),
    /^studies/,
  ],
  [
    /(?<![\p{L}])(?:разменял[аи]? (?:уже |свой )?\p{L}+ десяток|(?:мне )?пош[её]л \p{L}+ десяток|(?:отметил|отпраздновал|справил)[аи]? (?:свое |свои |мое )?(?:\d0-летие|\p{L}+десятилетие|сорокалетие|тридцатилетие))(?![\p{L}])/iu,
    /^age$/,
  ],
  [
    /(?<![\p{L}])(?:год|месяц|неделю|полгода|\p{L}+ (?:лет|года|месяцев|месяца|недель|недели|дней)) (?:\p{L}+ )?(?:без (?:сигарет\p{L}*|курения|никотина|табака)|не курю)(?![\p{L}])/iu,
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
  [russianStart('(?:на пенсии|в декрете|без работы|безработн(?:ый|ая))'), work],
  [
    /(?<![\p{L}])у меня (?:теперь |уже |наконец |снова |есть |появил(?:ся|ась) )+(?:девушка|парень|жених|невеста|муж|жена)(?=[\s.!]*$|,)/iu,
    married,
  ],
  [
    /(?<![\p{L}])(?:я )(?:теперь |официально |снова |уже )+(?:свободен|свободна|один|одна|одинок\p{L}*|не один|не одна|невеста|жених)(?=[\s.!]*$|,)/iu,
    married,
  ],
];

export const russianBefalls: KindWords = [
  [
    /^(?:он|она|(?:мой |моя )?(?:парень|девушка|молодой человек)) (?:мне )?(?:наконец |вчера |наконец-то )?сделал[а]? (?:мне )?предложение[ ,]+(?:и |а )?(?:я )?(?:\p{L}+ )?(?:согласил(?:ся|ась)|сказал[а]? да|ответил[а]? да)(?![\p{L}])/iu,
    married,
  ],
  [
    /^(?:мой |моя )?(?:муж|жена|супруг|супруга) (?:от меня )?(?:уш(?:ел|ла) (?:от меня|к друг\p{L}+)|умер(?:ла)?|подал[а]? на развод)(?![\p{L}])/iu,
    married,
  ],
];
