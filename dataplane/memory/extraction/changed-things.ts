/** Subjects of a phrase that show that it is about another person: pronouns, relatives, and a noun with its article. */
const englishThirds =
  '(?:s?he|they|it|you|who|which|someone|somebody|everyone|everybody|people|users?|friends|neighbou?rs|colleagues|kids|children|parents|relatives|(?:the|an?|his|her|their|your|our|my|this|these|those|some|many|most|all|every) \\p{L}+)';
const russianThirds =
  '(?:он|она|они|оно|ты|вы|кто|у (?!меня|нас)\\p{L}+|который|которая|кто-то|все|герой|героиня|(?:мой|моя|мои|наш|наша|его|её|ее|их|твой|ваш|этот|эта|эти) \\p{L}+|сосед(?:ка|и)?|брат(?:ья)?|сестр[аы]|мама|мать|папа|отец|родители|дети|сын(?:овья)?|доч(?:ь|ка|ери|ки)|муж|жена|бабушка|дедушка|дед|дядя|т[её]тя|кузен|кузина|племянни(?:к|ца|ки)|друг|друзья|подруг[аи]|коллег[аи]|знаком(?:ый|ая|ые)|начальник|шеф|ребята|одноклассни(?:к|ца|ки)|теща|тесть|свекровь|зять|невестка)';

/** The speaker as the subject directly before a verb: "the other one I sold", whatever precedes this phrase. */
const englishSelf = "(?:I|we)(?:'ve|'m| have| am| are)?(?: (?:just|recently|finally|already|also|now|all))*";
/** Words with which a sentence of the speaker begins before its verb; any other capitalised word there is a name: "Anna gave up". */
const englishNames = namesBut(
  "I|I'm|I've|we|and|but|so|then|well|ok|okay|yes|yeah|no|now|just|only|also|finally|recently|actually|already|sadly|luckily|eventually|yesterday|today|lately|since|sorry|update|honestly|never|completely|officially|suddenly|not|having|got|have|haven't|am|been|went",
  '(?: (?:is|was|has|have|had|just|finally|also|recently|already|never|really))*',
);
const russianSelf = '(?:я|мы)(?: (?:недавно|наконец|уже|теперь|тоже|вчера|сегодня|снова))*';

/**
 * Words of one other subject before the verb: "the team is done with football". Words that can stand there without being the
 * subject are left out, among them prepositions, adverbs and other verbs.
 */
const russianNouns =
  '(?<=(?:^|[,:;.!?–—-] ))(?!(?:я|мы|меня|нас|мне|нам|и|а|но|да|нет|ну|так|вот|же|как|уж|уже|еще|ещё|наконец|недавно|давно|вчера|позавчера|сегодня|теперь|сейчас|весной|летом|осенью|зимой|потом|тоже|снова|опять|сам|сама|сами|просто|только|совсем|всё|все|больше|не|ни|чуть|едва|почти|тут|там|в|во|на|с|со|из|от|до|по|под|при|про|без|для|за|к|ко|о|об|у|через|после|перед|из-за|ради|год|полгода|месяц|неделю|пару|этой|этим|этот|эту|этого|этому|эти|тот|ту|того|той|те|прошлой|прошлым|старый|старую|старое|свой|свою|свое|своё|прежний|прежнюю|наша|пришлось|врач|доктор|кстати|увы|короче|поправка|честно|никогда|раньше|решил|решила|надо|пора|жаль|что|\\p{L}+(?:л|ла|ли|лся|лась|лись|ю|юсь|усь|о|ый|ую|ой|ого|их|ых))(?![\\p{L}]))\\p{L}{3,} ';

const russianNames = namesBut(
  'я|мы|и|а|но|да|нет|ну|так|вот|уже|еще|наконец|недавно|давно|вчера|сегодня|теперь|сейчас|весной|летом|осенью|зимой|потом|тоже|снова|опять|сам|сама|просто|только|совсем|окончательно|официально|пришлось|больше|не|врач|доктор|кстати|извини|извините|поправка|честно|никогда|раньше',
  '(?: (?:уже|недавно|наконец|тоже|давно|вчера|сегодня|снова|опять|окончательно|\\p{L}+ (?:год|года|лет|месяц|месяца|месяцев)))*',
);

/** A name as the subject of a part of the sentence, directly before its verb. */
function namesBut(words: string, between: string): string {
  return `(?<![^,:;.!?–—-] |\\p{L})(?!(?:${words})(?![\\p{L}']))(?-i:\\p{Lu})\\p{Ll}+(?: (?:and|и) (?-i:\\p{Lu})\\p{Ll}+)?${between} `;
}

type Subjects = { readonly self: string; readonly thirds: string; readonly names: string };

/**
 * Matches words after the speaker as their subject, and words with no other subject before them in their part of the
 * sentence: people who type fast leave out both the subject and the mark before it: "wait sold that car".
 */
function ofSpeaker({ self, thirds, names }: Subjects, words: string): RegExp {
  const isSelf = `(?<=(?<!\\p{L})${self} )|(?<!\\p{L})(?=${self}(?!\\p{L}))`;
  const isOther = `(?<!\\p{L})${thirds}(?: [^,:;.!?]*)? `;
  return new RegExp(`(?:${isSelf}|(?<!${isOther}|${names}))(?<!\\p{L})(?:${words})(?!\\p{L})`, 'iu');
}

const englishSubjects: Subjects = { self: englishSelf, thirds: englishThirds, names: englishNames };
const russianSubjects: Subjects = {
  self: russianSelf,
  thirds: russianThirds,
  names: `${russianNames}|${russianNouns}`,
};

/** A pattern for phrases about a change whose subject is the speaker; see `ofSpeaker`. */
export const ofEnglishSpeaker = (words: string): RegExp => ofSpeaker(englishSubjects, words);
export const ofRussianSpeaker = (words: string): RegExp => ofSpeaker(russianSubjects, words);

/** A kind of things that a person can change, and the topics of the memories about them. */
type ChangedThings = { readonly verbs: string; readonly things: string; readonly topics: RegExp };

const englishOwn = '(?:my|our|that|my old|our old|the old|my former|my previous)';
const englishEnd = '(?=[\\s.!]*$|[,;:]| (?:and|for|so|now|again|last|this|recently|finally|then|to)(?!\\p{L}))';
/** Verbs for things that are bought and sold, for pursuits, and for work. */
const englishVerbs = {
  owned: 'switched|changed|swapped|replaced|sold|traded in|got rid of|upgraded',
  pursued: 'dropped|quit|gave up|gave up on|ditched|abandoned|am done with|stopped learning|stopped playing',
  held: 'switched|changed|quit|left|lost',
} as const;

const englishThings: readonly ChangedThings[] = [
  { verbs: englishVerbs.owned, things: 'car|truck|van', topics: /^(?:car|my: car|has: car)/ },
  { verbs: englishVerbs.owned, things: 'phone|mobile', topics: /^my: (?:phone|mobil)/ },
  {
    verbs: englishVerbs.owned,
    things: 'bike|bicycle|boat|house|flat|apartment',
    topics: /^has: (?:bike|bicycl|boat|hous|flat|apart)/,
  },
  { verbs: englishVerbs.pursued, things: 'language', topics: /^learning/ },
  { verbs: englishVerbs.pursued, things: 'instrument', topics: /^activity/ },
  {
    verbs: `${englishVerbs.pursued}|${englishVerbs.owned}`,
    things: 'hobby|sport',
    topics: /^(?:my: (?:hobbi|sport)|activity)/,
  },
  { verbs: `${englishVerbs.pursued}|changed`, things: 'diet', topics: /^diet/ },
  { verbs: `${englishVerbs.held}|dropped`, things: 'major|degree|course', topics: /^studies/ },
  {
    verbs: englishVerbs.held,
    things: 'job|employer|company|firm|profession|career|trade',
    topics: /^(?:employer|job)$/,
  },
];

const russianOwn = '(?:сво(?:й|ю|е|его)|мо(?:й|ю|е|его)|т(?:от|у|о|ого)|стар(?:ый|ую|ое|ого)|прежн(?:ий|юю|ее|его))';
const russianEnd = '(?=[\\s.!]*$|[,;:]| (?:и|на|теперь|недавно|потом|снова|опять|так)(?!\\p{L}))';
const russianVerbs = {
  owned: '(?:сменил|поменял|заменил|продал|обменял)[аи]?',
  pursued: '(?:бросил|забросил|сменил|поменял|оставил)[аи]?',
  held: '(?:сменил|поменял|бросил|оставил|потерял)[аи]?',
} as const;

const russianThings: readonly ChangedThings[] = [
  { verbs: russianVerbs.owned, things: 'машину|тачку|автомобиль', topics: /^(?:car|my: (?:машин|автомоб)|has: машин)/ },
  { verbs: russianVerbs.owned, things: 'телефон|смартфон', topics: /^my: (?:телефон|смартфон)/ },
  {
    verbs: russianVerbs.owned,
    things: 'велосипед|мотоцикл|лодку|квартиру|дом|дачу',
    topics: /^has: (?:велосипед|мотоцикл|лодк|квартир|дом|дач)/,
  },
  { verbs: russianVerbs.pursued, things: 'язык', topics: /^learning/ },
  { verbs: russianVerbs.pursued, things: 'инструмент', topics: /^activity/ },
  { verbs: russianVerbs.pursued, things: 'хобби|увлечение|спорт', topics: /^(?:my: (?:хобб|увлечен|спорт)|activity)/ },
  { verbs: russianVerbs.pursued, things: 'диету', topics: /^diet/ },
  { verbs: russianVerbs.held, things: 'факультет|специальность|учебу', topics: /^studies/ },
  { verbs: russianVerbs.held, things: 'работу|работодателя|компанию|профессию', topics: /^(?:employer|job)$/ },
];

type Changed = readonly (readonly [words: RegExp, topics: RegExp])[];

/** Phrases of a verb and a thing of the speaker: "gave up that language", "I've sold my car". */
export const englishChangedThings: Changed = englishThings.map(({ verbs, things, topics }) => [
  ofEnglishSpeaker(`(?:${verbs}) ${englishOwn} (?:${things})${englishEnd}`),
  topics,
]);

/** The Russian phrases, including those with the thing before its verb: "ту машину продал". */
export const russianChangedThings: Changed = russianThings.map(({ verbs, things, topics }) => {
  const thing = `(?:${russianOwn} )+(?:${things})`;
  return [ofRussianSpeaker(`(?:(?:${verbs}) ${thing}${russianEnd}|${thing} (?:${verbs}))`), topics];
});
