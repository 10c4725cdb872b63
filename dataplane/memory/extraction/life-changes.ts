import { ofEnglishSpeaker, ofRussianSpeaker } from './changed-things.ts';
import type { StatementLanguage } from './statement.ts';

type Changes = StatementLanguage['changed'];

const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';
const russianMeat = '(?:мясо|курицу|рыбу|говядину|свинину|бекон|стейки?|котлеты|баранину|индейку|колбасу)';
const third = '(?:second|third|fourth|fifth|another|number (?:two|three|four|five))';

/** Sentences of English speakers about a change in their lives: they tell what happened, not what was true before. */
export const englishLifeChanges: Changes = [
  [
    ofEnglishSpeaker(
      "(?:handed in|gave in|submitted|gave) (?:my|our) (?:notice|resignation)|gave notice|(?:got|found|landed|started|start|am starting|have|accepted) a (?:new|different) job|(?:I )?(?:start|am starting|'m starting) (?:at|with) (?:an? |the )?(?:new )?(?!the beginning)\\p{L}+(?: \\p{L}+)? (?:on|next|in) \\p{L}+",
    ),
    /^(?:employer|job)$/,
  ],
  [
    ofEnglishSpeaker(
      '(?:(?:the|my|our) )?divorce (?:is final|was final|came through|went through)|filed for (?:a )?divorce|(?:am |are )?getting (?:a )?divorced?|signed (?:the|my|our) divorce|(?:^|(?<=[,;] ))(?:the|my|our) divorce papers (?:came|arrived|are here)|(?:the |my |our )?decree absolute',
    ),
    /^marital status$/,
  ],
  [
    ofEnglishSpeaker(
      `(?<!(?:not|n't|never) )(?:(?:have |'ve )?(?:started|begun|began|resumed) eating|(?:have |'ve )?gone back to(?: eating)?|(?:am|'m) back (?:on|to)(?: eating)?) (?:(?:some|a bit of|a little) )*${meat}`,
    ),
    /^diet/,
  ],
  // "In Oslo now" alone is where the speaker is: the words for a lasting present, a correction or a home given up make it a home.
  [
    /\b(?:I|we|and)(?:'m|'re| am| are) (?:now |all )?in (?-i:\p{Lu})\p{L}+(?: (?-i:\p{Lu})\p{L}+)? (?:these days|nowadays|for good(?! \p{L})|permanently)\b/iu,
    /^residence$/,
  ],
  [
    /^(?:[\p{L}' ]+[,:–—-]? )?(?:actually|correction|in fact|not any ?more)[,:]? (?:I|we)(?:'m|'re| am| are) (?:now )?in (?-i:\p{Lu})\p{L}+(?: (?-i:\p{Lu})\p{L}+)? now$/iu,
    /^residence$/,
  ],
  [
    ofEnglishSpeaker(
      "(?:gave up|sold|moved out of|handed back|let go of) (?:the|our|my) (?:old )?(?:flat|apartment|house|place|studio)(?: in \\p{L}+)?,? and (?:I |we )?(?:am|are|'m|'re) (?:now )?in",
    ),
    /^residence$/,
  ],
  // A person has one club and one time of getting up, so that "now" states a replacement.
  [
    /\bI(?: now)? (?:get|wake) up (?:at|around|about|before|after) [^,;.]*\bnow\b|\bI now (?:get|wake) up\b|\bnow I (?:get|wake) up\b/iu,
    /^routine: (?:get|wake) up$/,
  ],
  [/\bI now (?:support|root for) \p{Lu}|\bI(?:'ve| have)? (?:support|root for) \p{Lu}[\p{L} ]* now$/u, /^supports/],
  [
    ofEnglishSpeaker(
      "(?:left|quit) (?:the |my )?(?!house|home|office|party|meeting|room|table|gym)\\p{L}+,? (?:and )?(?:I |I'm )?(?:now )?work(?:ing)? (?:at|for|as)(?! home)",
    ),
    /^(?:employer|job)$/,
  ],
  [
    /\bbirthday\b.*?\b(?:so that['’]?s|that['’]?s|that makes(?: me)?|makes me|so I['’]?m|now I['’]?m|officially) (?:now |already )?\d{1,3}\b(?! \p{L}*(?:people|guests|days|weeks|months|hours|of)\b)/iu,
    /^age$/,
  ],
  [
    new RegExp(
      `\\b(?:(?:my|our|a|the) )?(?:${third}(?: (?:child|baby|one|kid|son|daughter|boy|girl))?|new baby|twins) (?:has |have )?(?:arrived|was born|were born|is here|are here|came|joined us)\\b|\\b(?:I|we) (?:just )?had (?:a|another|our|my) (?:${third} )?(?:baby|child|son|daughter|boy|girl)\\b`,
      'iu',
    ),
    /^(?:has: (?:child|kid|son|daughter|boy|girl)|children|family|expecting)/,
  ],
  [
    /\b(?:put|moved|switched|transferred|placed) me (?:on|to|onto) (?:the )?(?:days?|nights?|mornings?|evenings?|weekends?|shifts?|part[- ]time|full[- ]time|day shift|night shift)\b|\b(?:I|we) (?:switched|moved|went|changed) to (?:days|nights|mornings|day shifts?|night shifts?|part[- ]time|full[- ]time|remote)\b/iu,
    /^way of work/,
  ],
  [
    ofEnglishSpeaker(
      "(?:am |'m |have been |'ve been |been )?off (?:the )?(?:cigarettes|fags|smokes|nicotine|tobacco)|(?:haven't|have not) had a (?:single )?(?:cigarette|smoke)(?! (?:since|all|today|yet|this))|not a single cigarette",
    ),
    /^smoking/,
  ],
  [
    ofEnglishSpeaker(
      "(?:am |'m |have been |'ve been |been )?(?:sober|off (?:the )?(?:booze|drink|alcohol))|stopped drinking",
    ),
    /^drinks/,
  ],
  [
    ofEnglishSpeaker(
      '(?:moved out|got (?:a|my|our) (?:own )?(?:place|flat) of (?:my|our) own|got my own (?:place|flat))',
    ),
    /^household/,
  ],
];

/** Sentences of Russian speakers about a change in their lives. */
export const russianLifeChanges: Changes = [
  [
    ofRussianSpeaker(
      '(?:написал|подал|положил)[аи]? (?:на стол |наконец |сегодня |вчера |уже |сам |сама )*заявлени[ея](?! на (?:отпуск|визу|загран|паспорт|кредит))|(?:нашел|нашла|получил|получила) (?:новую|другую) работу|(?:вышел|вышла|выхожу) на (?:новую|другую) работу|новая работа|новое место работы',
    ),
    /^(?:employer|job)$/,
  ],
  [
    ofRussianSpeaker(
      '(?:пришли|получил[аи]?|подписал[аи]?) (?:бумаги|документы) о разводе|подал[аи]? на развод|развод (?:оформил[аи]?|состоялся|позади)|(?:официально )?в разводе',
    ),
    /^marital status$/,
  ],
  [
    ofRussianSpeaker(
      `(?:снова |опять |уже |теперь |начал[аи]? |стал[аи]? )*(?:ем|есть|едим) ${russianMeat}|${russianMeat} (?:я )?(?:снова |опять |уже |теперь )+ем`,
    ),
    /^diet/,
  ],
  [
    /(?<![\p{L}])(?:день рождения(?! перен)|стукнуло)(?![\p{L}])[^.]*?(?:мне уже|так что уже|теперь мне|значит,? уже|уже|стукнуло) \d{1,3}(?!\d| (?:числ|дн|недел|месяц|январ|феврал|март|апрел|ма[яй]|июн|июл|август|сентябр|октябр|ноябр|декабр))/iu,
    /^age$/,
  ],
  [
    /(?<!(?<![\p{L}])у (?!нас|меня)\p{L}+ )(?<![\p{L}])родил(?:ся|ась|ись|и) (?:у нас )?(?:втор|трет|четверт|пят|еще|двойн|близнец|сын|доч|мальчик|девочк)\p{L}*/iu,
    /^(?:has: (?:дет|реб|сын|доч|пацан|мальчик|девоч)|children|family|expecting)/,
  ],
  [
    /(?:^|[,;:.]\s*|(?<![\p{L}])(?:меня|нас|я|мы)\s)(?:теперь |снова )?(?:перевели|перевел(?:ся|ась)|переш(?:ел|ла)) (?:меня )?(?:(?:в|на) (?:дневн|ночн|утренн|вечерн|удален|полн|част|офис|гибрид)\p{L}*|в (?:день|ночь)(?= ?[,;.]|$)|на (?:дни|ночи)(?![\p{L}]))/iu,
    /^way of work/,
  ],
  [
    ofRussianSpeaker(
      'ни одной сигареты|без сигарет|(?:не прикасаюсь|не притрагиваюсь) к сигаретам|сигареты (?:в прошлом|выбросил[аи]?|бросил[аи]?)',
    ),
    /^smoking/,
  ],
  [
    /(?<![\p{L}])(?:я|мы) (?:теперь |уже |сейчас )*в (?-i:\p{Lu})\p{L}+ (?:насовсем|навсегда|окончательно|на постоянку)(?![\p{L}])/iu,
    /^residence$/,
  ],
  [
    /(?:на самом деле|поправка|вообще-то),? (?:я|мы) (?:теперь|уже) в (?-i:\p{Lu})\p{L}+$|^(?:на самом деле|поправка|вообще-то),? теперь (?:я|мы) в (?-i:\p{Lu})\p{L}+$/iu,
    /^residence$/,
  ],
  [
    /(?<![\p{L}])теперь (?:я )?(?:встаю|просыпаюсь)(?![\p{L}])|(?<![\p{L}])(?:встаю|просыпаюсь) теперь(?![\p{L}])/iu,
    /^routine: (?:вста|просыпа)/,
  ],
  [
    /(?<![\p{L}])(?:теперь|отныне) (?:я )?болею за (?-i:\p{Lu})|(?<![\p{L}])болею теперь за (?-i:\p{Lu})/iu,
    /^supports/,
  ],
  [
    ofRussianSpeaker(
      '(?:(?:из|с|со) (?!дома|офиса|кафе|чата|игры|вечеринки|встречи|отношений)\\p{L}+ уш(?:ел|ла)|уш(?:ел|ла) (?:из|с|со) (?!дома|офиса|кафе|чата|игры|вечеринки|встречи|отношений)\\p{L}+),? (?:и )?(?:теперь |сейчас )?(?:(?:работаю|тружусь) (?:теперь |сейчас )?(?:в|во|на|у)(?! (?:дом|кафе|библиотек|удаленк|коворкинг))|устроил(?:ся|ась))',
    ),
    /^(?:employer|job)$/,
  ],
  [
    ofRussianSpeaker('(?:съехал|съехала|съехали)(?! с ума)|снял[аи]? (?:свою|отдельную) (?:квартиру|комнату)'),
    /^household/,
  ],
];
