import { ofEnglishSpeaker, ofRussianSpeaker } from './changed-things.ts';
import type { StatementLanguage } from './statement.ts';

type Changes = StatementLanguage['changed'];

const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';
const russianMeat = '(?:мясо|курицу|рыбу|говядину|свинину|бекон|стейки?|котлеты|баранину|индейку|колбасу)';
const third = '(?:second|third|fourth|fifth|another|number (?:two|three|four|five))';

/** What people say of their lives when something of them has changed: what happened, not what held before. */
export const englishLifeChanges: Changes = [
  [
    ofEnglishSpeaker(
      "(?:handed in|gave in|submitted|gave) (?:my|our) (?:notice|resignation)|gave notice|(?:got|found|landed|started|start|am starting|have|accepted) a (?:new|different) job|(?:I )?(?:start|am starting|'m starting) (?:at|with) (?:an? |the )?(?:new )?(?!the beginning)\\p{L}+(?: \\p{L}+)? (?:on|next|in) \\p{L}+",
    ),
    /^(?:employer|job)$/,
  ],
  [
    /\b(?:divorce (?:papers|is final|was final|came|went)|filed for (?:a )?divorce|getting (?:a )?divorced?|signed the divorce|decree absolute)\b/iu,
    /^marital status$/,
  ],
  [
    ofEnglishSpeaker(
      `(?:have started eating|started eating|'ve started eating|am eating|'m eating|eat) (?:a bit of )? (?:some )?${meat}`,
    ),
    /^diet/,
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
      "(?:am |'m |have been |'ve been |been )?off (?:the )?(?:cigarettes|fags|smokes|nicotine|tobacco)|(?:haven't|have not) had a (?:single )?(?:cigarette|smoke)|not a single cigarette",
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

/** The same for Russian. */
export const russianLifeChanges: Changes = [
  [
    ofRussianSpeaker(
      '(?:написал|подал|положил)[аи]? (?:на стол )?заявлени[ея](?! на (?:отпуск|визу|загран|паспорт|кредит))|(?:нашел|нашла|получил|получила) (?:новую|другую) работу|(?:вышел|вышла|выхожу) на (?:новую|другую) работу|новая работа|новое место работы',
    ),
    /^(?:employer|job)$/,
  ],
  [
    /(?<![\p{L}])(?:(?:бумаги|документы|решение) о разводе|подал[аи]? на развод|развод (?:оформил[аи]?|состоялся|позади)|(?:официально )?в разводе)(?![\p{L}])/iu,
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
    /(?:^|[,;:.]\s*|(?<![\p{L}])(?:меня|нас|я|мы)\s)(?:теперь |снова )?(?:перевели|перевел(?:ся|ась)|переш(?:ел|ла)) (?:меня )?(?:в|на) (?:дневн|ночн|утренн|вечерн|удален|полн|част|офис|гибрид)\p{L}*/iu,
    /^way of work/,
  ],
  [
    ofRussianSpeaker(
      'ни одной сигареты|без сигарет|(?:не прикасаюсь|не притрагиваюсь) к сигаретам|сигареты (?:в прошлом|выбросил[аи]?|бросил[аи]?)',
    ),
    /^smoking/,
  ],
  [
    ofRussianSpeaker('(?:съехал|съехала|съехали)(?! с ума)|снял[аи]? (?:свою|отдельную) (?:квартиру|комнату)'),
    /^household/,
  ],
];
