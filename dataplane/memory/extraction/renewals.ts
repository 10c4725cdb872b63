import { analyse } from '#search/analysis/analyse';
import type { RenewalLanguage } from './renewed-values.ts';

const termsOf = (text: string): ReadonlySet<string> => new Set(analyse(text));

/** Words of English speakers around a value that replaces another value. */
export const englishRenewals: RenewalLanguage = {
  renews:
    /\b(?:now|officially|these days|nowadays|from now on|from here on|any ?more|no longer|since (?:then|(?:last |the |my |our )?(?:january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|christmas|easter|new year|move|baby|birth|wedding|divorce|accident|operation|surgery|promotion|new \p{L}+))|(?:has |have |was |were |got |been |is |are )?(?:moved|shifted|switched|pushed|brought forward|put back|rescheduled|postponed|changed|raised|lowered|increased|reduced) to|(?:up|down) to|(?:is|are) (?:on|in|at) [^,.;!?]{1,20} instead(?! of))(?!\p{L})/iu,
  switches:
    /\b(?:(?:switched|switching|changed|converted|upgraded|downgraded|transferred|migrated|moved (?:on|over)) (?:over |back )?to|moved to(?= (?:an? |(?:linux|windows|mac|android|ios|chrome|firefox|safari|gmail|outlook|slack|teams|telegram|signal|vim|vscode|emacs)(?!\p{L})))|switched (?:my )?(?:allegiance|loyalty|loyalties|team) to|(?:moved|switched|changed|migrated) from \p{L}+ to|been on(?= [^.!?]* since )|(?:transferred|switched|changed) (?:over )?(?:in)?to|back (?:on|to|with)(?= (?-i:\p{Lu}))|(?:swapped|traded|ditched|dropped|exchanged|replaced) [^,.;:!?]{1,40} (?:for|with|by)|(?:moved|switched) (?:me|us|everyone|everybody) (?:over )?(?:to|onto))(?!\p{L})/iu,
  gives: /\b(?:gave|issued|handed|bought) (?:us|me|everyone|everybody|all of us)(?!\p{L})/iu,
  namesOld:
    /\b(?:(?:instead of|rather than|in place of)|(?:switched|moved|changed|went) from|(?:swapped|traded|ditched|dropped|exchanged|replaced)(?! (?:(?:the|my|our|that) )?(?:old|former|previous|one)(?!\p{L})))(?!\p{L})/iu,
  contrasts: /\b(?:instead|rather than|in place of)(?!\p{L})/iu,
  negates: /\b(?:not|no|never|neither|nor)(?!\p{L})|n't(?!\p{L})/iu,
  passes:
    /\b(?:today|tonight|tomorrow|yesterday|last (?:night|time)|this (?:morning|afternoon|evening|week|weekend|month|time|once|\p{L}+day)|next (?:week|time|\p{L}+day)|for (?:the|a|an?other|one|two|three|a few|a couple of) (?:\p{L}+ )?(?:day|days|night|nights|week|weeks|weekend|while|bit|minute|hour|hours|trip|conference)|for (?:an?|one|two|three|a few|a couple of) (?:month|year)s?(?! (?:now|already))|until|till|during|while|whenever|as well|too(?! \p{L}{3})|also|temporar(?:y|ily)|meanwhile|for now|for once|just this|at the moment|right now|(?:am|'m|are|'re) (?:having|getting|watching|ordering|making|trying|reading|listening|sitting|standing|waiting)|ordered|still|rent(?:ed|al)|hired? car|borrow(?:ed|ing)?|almost|nearly|about to|going to|want to|wanted to|tried to|thinking of|considering|used to)(?!\p{L})/iu,
  own: /\b(?:I|we|me|us|my|our)(?!\p{L})|^(?:back|switched|moved|went|got|swapped|changed|upgraded|replaced|ditched)(?!\p{L})/iu,
  names: [
    [/(?<!\p{L})an? (?:\p{L}+ )?(?:raise|rise)(?!\p{L})/giu, 'salary'],
    [
      /(?<!\p{L})(?:they |work |my boss )?(?:bumped|raised|moved|put) (?:me|us) (?:up )?to (?=[\d€$£])/giu,
      'salary up to ',
    ],
    [/(?<!\p{L})I(?:'m| am) on (?=[£$€]|\d+(?: ?k)? (?:pounds|euros|dollars|quid)(?!\p{L}))/giu, 'salary '],
    [
      /(?<!\p{L})(?:the landlord|our landlord|my landlord|my boss|the company|the bank|the school|the airline|the clinic)(?= (?:has |have )?(?:put|raised|lowered|cut|moved|changed|pushed|increased|reduced|rescheduled|postponed)(?!\p{L}))/giu,
      '',
    ],
    [/(?<!\p{L})I(?:'d| would) say (?:that )?/giu, ''],
    [/(?<!\p{L})(?:earn|earning|get paid|am paid|'m paid)(?= (?:about |around |roughly )?[\d€$£])/giu, 'salary'],
    [/(?<=(?<!\p{L})(?:my|our) )(?:pay|wages?|income)(?!\p{L})/giu, 'salary'],
    [/(?<!\p{L})(?:take|wear|wearing) an? (?=\d)/giu, 'size '],
    [/(?<!\p{L})(?:my )?(?:feet|foot|shoes)(?!\p{L})/giu, 'shoe'],
  ],
  general: /(?:^|[,:;] )(?:(?:all|most|many|some|other) )?(\p{L}{3,}s) (?!of(?!\p{L}))/iu,
  changing: termsOf(
    'they them class classes lesson lessons course switched switching changed converted upgraded downgraded transferred migrated moved swapped traded ditched dropped exchanged replaced gave given issued handed bought got old one company employer work boss everyone everybody all over onto year month spring summer autumn fall winter christmas last this our team office finally completely recently just allegiance loyalty loyalties',
  ),
  generic: termsOf(
    "a an the my our it its this' is are was were be been being am i i'm i've we we're we've me us have has had do does did will now no not longer any anymore these days nowadays since from then on in at to for of by with back up down only just instead rather than place actually currently finally already again new current latest please make that correction sorry typo meant change changed changes changing move moved moves moving shift shifted switch switched push pushed bring brought put postpone postponed reschedule rescheduled forward go goes gone went get gets got become became increase increased raise raised rose risen lower lowered reduce reduced cut extend extended grow grew grown fell drop dropped come comes came so and but or as well every each take takes took takes place happen happens need needed must pay paid paying costs cost",
  ),
  behind: termsOf(
    'user owner customer fan last this next year years month months week weeks season spring summer autumn fall winter after because when while before ago who which that than if until too also though work home school office everyone everybody me year since during over classes class lessons lesson',
  ),
};

/** Words of Russian speakers around a value that replaces another value. */
export const russianRenewals: RenewalLanguage = {
  renews:
    /(?<![\p{L}])(?:теперь|официально|отныне|с недавних пор|больше не|уже(?! не(?![\p{L}]))|снова|(?:перенес|передвинул|сдвинул|отложил|поменял|сменил|изменил|увеличил|уменьшил|поднял|снизил|сократил|вырос|упал)(?:[аои]|ли|ла|ся|лся|лась|ась|ись|лись)?|с (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря|весны|лета|осени|зимы|понедельника|прошл\p{L}+|этого|нов\p{L}+))(?![\p{L}])/iu,
  switches:
    /(?<![\p{L}])(?:(?:переш(?:ел|ла|ли)|пересел[аи]?|перебрал(?:ся|ась|ись)|переключил(?:ся|ась|ись)) на|(?:вернул(?:ся|ась|ись)) на(?= (?-i:\p{Lu}))|переметнул(?:ся|ась) к|переш(?:ел|ла|ли) (?:с|со) \p{L}+ на|(?:я|мы) теперь на|теперь (?:я|мы) на|перевел(?:ся|ась)(?: с \p{L}+)? на|(?:сменил|поменял|заменил|обменял|променял)[аи]? [^,.;:!?]{1,40} на|(?:нас|меня|всех) (?:\p{L}+ )?(?:перевели|пересадили) на|(?<=(?:^|[\s,])(?:с \p{L}+|теперь|уже) )сижу на|сижу (?:теперь|уже) на)(?![\p{L}])/iu,
  gives:
    /(?<![\p{L}])(?:^вместо \p{L}+ (?:\p{L}+ )?выдали|(?:нам|всем|мне) (?:\p{L}+ )?(?:выдали|раздали)|(?:выдали|раздали) (?:нам|всем))(?![\p{L}])/iu,
  namesOld:
    /(?<![\p{L}])(?:вместо|а не|(?:сменил|поменял|заменил|обменял|променял)[аи]?(?! (?:стар|прежн)\p{L}+)|переш(?:ел|ла|ли) (?:с|со|из)|пересел[аи]? (?:с|со))(?![\p{L}])/iu,
  contrasts: /(?<![\p{L}])(?:вместо|а не)(?![\p{L}])/iu,
  negates: /(?<![\p{L}])(?:не|нет|ни|никогда)(?![\p{L}])/iu,
  passes:
    /(?<![\p{L}])(?:сегодня|завтра|вчера|позавчера|послезавтра|на этой неделе|на (?:следующей|прошлой) неделе|в (?:этот|эту|это|следующ\p{L}+) \p{L}+|на (?:день|неделю|месяц|время|выходные|выходных|каникулы|пару|один|одну|два|две|три)|до (?:понедельника|вторника|среды|четверга|пятницы|субботы|воскресенья|завтра|вечера|утра|конца|января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря)|временно|пока|сейчас|все еще|еще|ещё|тоже|также|и по|по-прежнему|чуть не|едва не|почти|хочу|хотел[аи]?|собираюсь|думаю|напрокат|в аренду|одолжил[аи]?|раньше)(?![\p{L}])/iu,
  own: /(?<![\p{L}])(?:я|мы|мне|нам|меня|нас|мой|моя|мое|мои|наш|наша|наше|наши|всем|сам|сама|сижу|команда|наша|\p{L}{3,}аюсь)(?![\p{L}])|^(?:теперь |снова |уже )*(?:вернул|переметнул|сижу|переш|пересел|перевел|перебрал|переключил|сменил|поменял|заменил|купил|взял|езжу|пользуюсь|хожу|пишу|болею|пью|учу|играю|вместо)|(?<=, )(?:теперь |снова )?(?:пересел|переш|взял|купил)/iu,
  names: [
    [
      /(?<![\p{L}])(?:хозяин|хозяйка|арендодатель|начальник|шеф|фирма|банк|школа|клиника)(?= (?:мне |нам )?(?:поднял|снизил|повысил|увеличил|уменьшил|перенес|передвинул|изменил|сменил)[аи]?(?:сла|сли)?(?![\p{L}]))/giu,
      '',
    ],
    [/(?<![\p{L}])(?:получаю|зарабатываю|мне платят|оклад|получк[ау])(?![\p{L}])/giu, 'зарплата'],
    [/(?<![\p{L}])ношу (?=(?:уже |теперь )?\d)/giu, 'размер '],
    [/(?<![\p{L}])(?:ног[аи]|туфли|ботинки)(?![\p{L}])/giu, 'обувь'],
  ],
  general: /(?:^|[,:;] )(?:(?:все|многие|другие) )?(\p{L}{3,}[ыи]) /iu,
  changing: termsOf(
    'они перешел перешла перешли перейти пересел пересела команда команды отдел офис переметнулся переметнулась сижу перевелся перевелась перебрался перебралась перебрались переключился переключилась вернулся вернулась вернулись сменил сменила сменили поменял поменяла поменяли заменил заменила заменили обменял обменяла променял променяла перевели пересадили выдали раздали старый старую старое старые фирма фирме компания компании работа работе начальник шеф всем всех год году года месяц месяца весной летом осенью зимой лета осени зимы прошлым прошлой прошлом этим этой этом окончательно наконец недавно',
  ),
  generic: termsOf(
    'я мы у меня нас мне нам мой моя мое мои моего моей наш наша наше наши это есть был была было были быть будет не а и но или да в во на с со к ко до от по из за для о об теперь сейчас уже снова опять больше уж вместо отныне недавних пор перенес перенесли перенесла перенести передвинули передвинул сдвинули сдвинул отложили поменяли поменял поменяла сменили сменил изменили изменил изменился изменилась увеличили увеличил увеличился увеличилась подняли поднял вырос выросла выросло снизили снизил сократили уменьшили уменьшился упал упала пришлось стал стала стало стали новый новая новое новые каждый каждую каждое день дни раз извини извините поправка точнее вернее то опечатка ошибся ошиблась так что проходит проходят назначен назначена назначили',
  ),
  behind: termsOf(
    'прошлым прошлой прошлом этим этой этом год года году месяц месяца месяце неделю неделе весной летом осенью зимой после потому когда пока чтобы который которая чем если тоже также работе работу дома всей всем всех вчера назад насовсем окончательно язык языку',
  ),
};
