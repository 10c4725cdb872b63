import { analyse } from '#search/analysis/analyse';
import type { EndedValue } from './ended-values.ts';

/** What a sentence about somebody near the speaker changes: "my brother has moved to Vancouver". */
type Turn = {
  /** Matches the words behind the person; the group `next` is the new value, and `last` the old one. */
  readonly words: RegExp;
  /** The turn is one of those who live with the speaker. */
  readonly isHousehold?: true;
  /** Kinds of topics behind the one of the person; empty for a topic of the person alone. */
  readonly kinds: string;
  /** Texts of the memories that state a value of the kind. */
  readonly texts?: RegExp;
};
type PersonLanguage = {
  /** Matches the person at the beginning of a sentence, as the group `person`, and in `which` words such as "younger". */
  readonly person: RegExp;
  /** The stem with which topics name a person whom the sentence names in another form. */
  readonly stems: Readonly<Record<string, string>>;
  /** Words for a temporary state, for which nothing has changed. */
  readonly passes: RegExp;
  readonly turns: readonly Turn[];
};

/** The values of somebody near the speaker that a sentence about this person states to hold no longer. */
export function endedOfPerson({ person, stems, passes, turns }: PersonLanguage, text: string): readonly EndedValue[] {
  const named = person.exec(text);
  const [stem] = analyse(named?.groups?.['person'] ?? '');
  if (named === null || stem === undefined || passes.test(text)) return [];
  const which = analyse(named.groups?.['which'] ?? '');
  const rest = text.slice(named[0].length);
  return turns.flatMap(({ words, kinds, texts, isHousehold }): readonly EndedValue[] => {
    const found = words.exec(rest);
    if (found === null) return [];
    const about = stems[stem] ?? stem;
    if (isHousehold) return [{ terms: [...which, about], topics: /^(?:household|residence)/ }];
    // The younger son is another person than the older one, and than one whom the memory does not describe.
    const same = which.length === 0 ? '(?:\\p{L}+ )?' : `${which.join('\\p{L}{0,3} ')}\\p{L}{0,3} `;
    const topics = new RegExp(`^(?:my|name of|age of): ${same}${about}\\p{L}{0,2}${kinds}`, 'u');
    const next = analyse(found.groups?.['next'] ?? '');
    const last = analyse(found.groups?.['last'] ?? '');
    return [{ terms: last, topics, texts, unless: next }];
  });
}

const name = '(?-i:\\p{Lu})[\\p{L}\\p{N}]+(?: (?-i:\\p{Lu})\\p{L}+)?(?![\\p{L}\\p{N}])';
const adverbs = '(?:just|recently|finally|already|now|also|both)';
const end = '(?=[\\s.!]*$|,| (?:in|last|this|on|at|yesterday|recently|now|and|so|after)(?!\\p{L}))';
const numbers = 'two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen';

export const englishPersons: PersonLanguage = {
  person: new RegExp(
    `^(?:(?:[\\p{L}]+ ){0,3}[\\p{L}]+[,:] )?(?:(?:my|our) |(?=(?:mum|mom|dad|grandma|grandpa)(?!\\p{L})))(?<which>(?:(?:big|little|older|younger|eldest|youngest|oldest|twin|best) )*)(?<person>wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|brother|sister|son|daughter|boy|girl|mother|mum|mom|father|dad|parents|uncle|aunt|cousin|grandma|grandpa|grandmother|grandfather|grandson|granddaughter|friend|nephew|niece|boss|manager|roommate|flatmate)(?:'s|'ve| has| have)? (?:${adverbs} )*`,
    'iu',
  ),
  stems: {
    boy: 'son',
    girl: 'daughter',
    mum: '(?:mum|mom|mother)',
    mom: '(?:mum|mom|mother)',
    dad: '(?:dad|father)',
    mother: '(?:mum|mom|mother)',
    father: '(?:dad|father)',
  },
  passes:
    /(?<!\p{L})(?:today|tonight|tomorrow|for (?:the|an?|two|three|a few) (?:\p{L}+ )?(?:day|week|weekend|month|summer|winter|night|holiday|conference|visit|while)s?|almost|nearly|wants? to|might|until|temporarily|still)(?!\p{L})/iu,
  turns: [
    {
      words:
        /^(?:moved out|left home|moved away|got (?:his|her|their) own (?:place|flat|apartment|room))(?=[\s.!]*$|,| (?:last|in|this|and|so|yesterday|recently))/iu,
      kinds: '',
      isHousehold: true,
    },
    {
      words: new RegExp(
        `^(?:(?:moved|relocated|emigrated|returned|resettled) (?:back |over |out |away |down |up )?to (?!(?:Room|Team|Building|Floor|Seat|Desk|Slack|Teams|Zoom|Table|Platform|Gate)(?!\\p{L}))(?<next>${name})(?! (?:team|department|project|office)(?!\\p{L}))|(?:is |are )?(?:now )?(?:living|based|settled) in (?<next>${name})|(?:lives?|is|are) (?:now )?in (?<next>${name})(?=[^.!?]* (?:now|these days)(?!\\p{L}))|(?:now )?(?:lives?|living|moved in|is living) (?:here )?with (?:us|me)(?: now)?(?=[\\s.!]*$|,))`,
        'iu',
      ),
      kinds: '(?: (?:live|is base|is liv)\\p{L}*)?$',
      texts: /(?<!\p{L})(?:lives?|living|based|in (?=\p{Lu}))/u,
    },
    {
      words: new RegExp(
        `^(?:(?:left|quit|resigned from|was (?:fired|laid off|let go) (?:from|by)) (?<last>${name})|(?:got|found|started|took) (?:an? |the )?(?:new )?job|(?:changed|switched|lost|quit|left) (?:jobs|(?:his|her|their) job)|retired${end}|went freelance|(?:was hired by|works? (?:now )?(?:at|for)|is (?:now )?working (?:at|for)) (?<next>${name})|joined (?<next>${name}) as )`,
        'iu',
      ),
      kinds: ' (?:work|is work|is employ|job)',
    },
    {
      words: new RegExp(
        `^(?:(?:switched|moved|transferred|changed|goes|is going|started|starts) (?:now )?(?:to|at) (?<next>${name}(?: (?:school|college|university|academy|nursery))?)|(?:changed|switched) schools|graduated|finished (?:school|uni|university|college)|dropped out|left school)`,
        'iu',
      ),
      kinds: ' (?:goe|go|attend|studi|study|is in|is at)\\p{L}*$',
    },
    {
      words: new RegExp(
        `^(?:turned (?<next>\\d{1,3}|${numbers})(?! (?:the|it|down|up|off|on|pages)(?!\\p{L}))|(?:is|'s) now (?<next>\\d{1,3})(?=[\\s.!]*$|,| years)|(?:is|'s) (?<next>\\d{1,3}|${numbers}) now(?=[\\s.!]*$|,)|had (?:his|her|their) (?<next>\\d{1,3})(?:st|nd|rd|th) birthday)`,
        'iu',
      ),
      kinds: '(?: (?:age|is))?$',
      texts: new RegExp(
        `(?<!\\p{L})(?:is|'s|are|aged?|just|only) (?:\\d{1,3}|${numbers})(?: years? old)?[\\s.!]*$`,
        'iu',
      ),
    },
    {
      words: new RegExp(
        `^(?:got|is (?:now )?|are (?:now )?|has been )?\\s?(?:married|divorced|engaged|separated|single again|split up|broke up)${end}`,
        'iu',
      ),
      kinds: '$',
      texts: /(?<!\p{L})(?:single|married|divorced|engaged|separated)(?!\p{L})/iu,
    },
    {
      words: /^(?:became|retrained as|is now working as|works now as) (?:an? )?(?<next>\p{L}+)/iu,
      kinds: '(?: work\\p{L}*)?$',
      texts: /(?<!\p{L})(?:an?|as an?) \p{L}+[\s.!]*$/iu,
    },
  ],
};

const russianName = '(?-i:[А-ЯЁA-Z])[\\p{L}\\p{N}]+(?:[ -](?-i:[А-ЯЁA-Z])\\p{L}+)?(?![\\p{L}\\p{N}])';
const russianEnd =
  '(?=[\\s.!]*$|,| (?:в|на|и|но|а|теперь|недавно|вчера|весной|летом|осенью|зимой|прошл\\p{L}+)(?!\\p{L}))';

/** The same for Russian. */
export const russianPersons: PersonLanguage = {
  person:
    /^(?:(?:[\p{L}]+ ){0,3}[\p{L}]+[,:] |[вз]а? \p{L}+ )?(?:(?:мо[йяию]|моего|моей|моему|наш|наша|наши|нашу|у) )?(?<which>(?:(?:старш|младш|двоюродн|лучш|средн)\p{L}+ )*)(?<person>муж(?:а|у)?|жен[аеу]|брат(?:а|у)?|сестр[аеу]|сын(?:а|у|ок)?|доч(?:ь|ери|ка|ку|ке)|мам[аеу]|мать|матери|пап[аеу]|отец|отца|отцу|родители|родителей|дяд[яею]|т[её]т[яею]|бабушк[аеу]|дедушк[аеу]|дед(?:а|у)?|подруг[аеу]|друг(?:а|у)?|девушк[аеу]|парень|парня|парню|племянни(?:к|ца|цу|цы|ка|ку)|начальник(?:а|у)?)(?![\p{L}]) (?:(?:недавно|наконец|уже|теперь|тоже|вчера|весной|летом|осенью|зимой|как раз|с семьей) )*/iu,
  stems: {
    дочк: 'доч',
    дочер: 'доч',
    дочерь: 'доч',
    сынок: 'сын',
    матер: 'мат',
  },
  passes:
    /(?<![\p{L}])(?:сегодня|завтра|на (?:день|неделю|месяц|время|выходные|лето|каникулы|пару|два|две|три)|чуть не|едва не|почти|хочет|собирается|временно|пока|до \p{L}+а)(?![\p{L}])/iu,
  turns: [
    {
      words:
        /^(?:съехал[аи]?|отселил(?:ся|ась|ись)|стал[аи]? жить отдельно|живет теперь отдельно|теперь живет отдельно)(?=[\s.!]*$|,| (?:в|на|от|и|недавно|весной|летом|осенью|зимой)(?![\p{L}]))/iu,
      kinds: '',
      isHousehold: true,
    },
    {
      words: new RegExp(
        `^(?:переехал[аи]?|перебрал(?:ся|ась|ись)|переселил(?:ся|ась|ись)|уехал[аи]? жить|вернул(?:ся|ась|ись) жить|(?:теперь )?жив[её]т теперь|теперь жив[уеё]т|обосновал(?:ся|ась|ись)|осел[аи]?) (?:жить )?(?:\\p{L}+ )?(?:в|на) (?<next>${russianName})`,
        'iu',
      ),
      kinds: ' жив\\p{L}*',
    },
    {
      words: new RegExp(
        `^(?:(?:уш(?:ел|ла|ли)|уволил(?:ся|ась)) (?:из|с|со|от) (?<last>${russianName})|(?:сменил|поменял|потерял|нашел|нашла)[аи]? (?:новую )?работу|(?:уволил(?:ся|ась))${russianEnd}|(?:вышел|вышла) на пенсию|(?:взяли|переманили|сократили|уволили)|устроил(?:ся|ась) (?:работать )?(?:в|на) (?<next>${russianName})|переш(?:ел|ла) (?:работать )?(?:в|на) (?<next>${russianName})|работает теперь|теперь работает)`,
        'iu',
      ),
      kinds: ' (?:работа|труд|служ)\\p{L}*',
    },
    {
      words:
        /^(?:(?:мы )?(?:перевели|отдали|перевел(?:ся|ась)|переш(?:ел|ла)|ходит теперь|теперь ходит|теперь учится|учится теперь) (?:теперь )?(?:в|на) (?:(?:друг|нов)\p{L}+ )?(?:школ|гимнази|лице|сад|\d|универ|институт|факультет|колледж)|сменил[аи]? (?:школу|вуз|университет|садик)|(?:окончил|закончил)[аи]? (?:школу|универ|институт|университет|вуз)|отчислил(?:ся|ась)|бросил[аи]? (?:универ|учебу|институт))/iu,
      kinds: ' (?:ход|уч|посеща)\\p{L}*',
    },
    {
      words:
        /^(?:(?:уже |теперь )*(?:исполнил(?:о|а)сь|стукнуло) )?(?<next>\d{1,3})(?: (?:год|лет|года))?(?=[\s.!]*$|,)/iu,
      kinds: '(?: \\p{L}+)?$',
      texts: /\d{1,3}(?: (?:лет|год|года))?[\s.!]*$/u,
    },
  ],
};
