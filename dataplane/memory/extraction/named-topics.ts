import { analyse } from '#search/analysis/analyse';
import type { EndedValue } from './ended-values.ts';

/**
 * Phrases that name what has a new value: "Raj is my boss now". The group `topic` is the thing, `next` the new value. A phrase
 * with `kind` names a kind of favourites.
 */
type TopicLanguage = {
  readonly phrases: readonly RegExp[];
  /** Words for a state of the moment, and for an unchanged one. */
  readonly passes: RegExp;
};

/** The values of things that a sentence names together with their new values. */
export function endedOfTopic({ phrases, passes }: TopicLanguage, text: string): readonly EndedValue[] {
  if (passes.test(text)) return [];
  return phrases.flatMap((phrase): readonly EndedValue[] => {
    const groups = phrase.exec(text)?.groups;
    const topic = analyse(groups?.['topic'] ?? groups?.['fresh'] ?? groups?.['present'] ?? '').join(' ');
    const kind = analyse(groups?.['kind'] ?? '').join(' ');
    if (topic === '' && kind === '') return [];
    const unless = analyse(groups?.['next'] ?? '');
    const about = kind === '' ? `(?:my|name of): ${sameThing}${escaped(topic)}` : `favourite: ${escaped(kind)}`;
    const food = /^(?:dish|food|meal|блюд|ед)$/.test(kind) ? '|^favourite: food$' : '';
    return [{ terms: [], topics: new RegExp(`^${about}$${food}`, 'u'), unless }];
  });
}

/** Words before a thing that make it no other thing: a phone number, but not the number of a locker. */
const sameThing = '(?:(?:phone|telephon|mobil|cell|home|current|main|мобильн|домашн) )?';

function escaped(words: string): string {
  return words.replace(/[^\p{L}\p{N} ]/gu, '.');
}

const roles =
  '(?:boss|manager|landlord|landlady|dentist|doctor|gp|therapist|teacher|tutor|trainer|coach|hairdresser|barber|accountant|lawyer|supervisor|roommate|flatmate|neighbou?r|mechanic|vet|nanny|cleaner|insurer|provider|bank)';
/** Roles of which a person mostly has one at a time. */
const soleRoles =
  '(?:boss|manager|landlord|landlady|dentist|doctor|gp|therapist|trainer|coach|hairdresser|barber|accountant|lawyer|supervisor|insurer|provider)';
const things =
  '(?:phone(?: number)?|number|address|email(?: address)?|password|car|bike|laptop|computer|bank|gym|provider|insurer|school|username|job title|title|budget|rent|salary|size|shift|schedule|diet|hobby|team|club|band|nickname|goal|route|plan|hair(?: colou?r)?|locker|room|desk|office|major|degree|timezone|time zone)';
const amounts =
  '(?:phone number|number|address|password|budget|rent|salary|size|shift|schedule|locker|room|desk|office)';
/** Things that change to another one and not in their state: "my phone switched to silent". */
const changing =
  '(?:phone number|number|address|email(?: address)?|password|username|job title|title|budget|rent|salary|size|schedule|diet|nickname|goal|hair(?: colou?r)?|locker|room|desk|degree|timezone|time zone)';
const kinds =
  '(?:food|dish|meal|drink|colou?r|band|singer|artist|song|album|movie|film|book|novel|author|writer|show|series|game|sport|team|season|city|country|animal|subject|restaurant|café|cafe|shop|day|fruit|flower|actor|actress|podcast|language|number)';
const value = "(?:\\p{L}|\\p{N})[\\p{L}\\p{N}' .@+-]{0,40}?";
/** A name: "my gym is now open" says nothing new about the gym. */
const named = "(?-i:\\p{Lu})[\\p{L}\\p{N}' .@+-]{0,40}?";
const figure =
  "(?!\\d+ (?:years?|months?|weeks?|days?|hours?|minutes?|km|miles|metres|degrees|percent|people|of)(?!\\p{L}))\\p{N}[\\p{L}\\p{N}' .@+-]{0,40}?";
const enough = '(?=[\\s.!]*$|[,;]| (?:now|these days|since|so|and|because|instead|as of))';

export const englishTopics: TopicLanguage = {
  passes:
    /(?<!\p{L})(?:today|tonight|tomorrow|yesterday|this (?:week|morning|evening|weekend)|for (?:now|the (?:day|week|moment))|until|while|still|almost|nearly|not|never|no|if|want|wants|would(?! say)|temporarily|used to)(?!\p{L})|n't(?!\p{L})/iu,
  phrases: [
    new RegExp(
      `(?<!\\p{L})(?:name|pick|choose|say|have) (?<next>${value}) as my(?: new)? favou?rite (?<kind>${kinds})(?= now| these days)`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] |(?<!\\p{L})(?:and|but|so) )(?:I'd say |I would say )?(?<next>${value}) (?:is|are)(?: now)? my(?: new| absolute| all-time| current)? favou?rite (?<kind>${kinds})(?: now| these days| at last)*(?=[\\s.!]*$|[,;])`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] |(?<!\\p{L})(?:and|but|so) )(?<next>${value}) (?:(?:is now|has become|became) (?:my|our) (?:new )?(?<topic>${soleRoles})|is (?:my|our) new (?<fresh>${soleRoles})|is (?:my|our) (?<present>${soleRoles})(?= now| these days))(?: now| these days)*(?=[\\s.!]*$|[,;])`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] |(?<!\\p{L})and )(?:(?:(?:I|we)(?:'ve| have)? (?:just |finally |now )*)?(?:have|got|get|found|hired)|(?:the|our|my) (?:flat|house|team|department) (?:has|got)) (?:an? )?new (?<topic>${soleRoles})(?=[\\s.!]*$|[,;:]|,? (?:now|called|named|since|and|at last))`,
      'iu',
    ),
    new RegExp(`(?:^|[,;:] )(?:my|our) (?<topic>${roles}|${things}) is now (?<next>${named})${enough}`, 'iu'),
    new RegExp(`(?:^|[,;:] )(?:my|our) (?<topic>${amounts}) is now (?<next>${figure})${enough}`, 'iu'),
    new RegExp(
      `(?<!\\p{L})(?:I|we)(?:'ve| have)? (?:just |finally |recently )*(?:changed|switched|swapped) (?:my|our) (?!(?:route|plan|shift|schedule|desk|office)(?!\\p{L}))(?<topic>${roles}|${things})(?: (?:to|for) (?<next>${value}))?${enough}`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] )(?:my|our) (?<topic>${changing}) (?:has |have )?(?:changed|switched|moved|went up|went down|gone up|gone down|been changed|been raised|been cut) to (?<next>${value})${enough}`,
      'iu',
    ),
  ],
};

const russianRoles =
  '(?:начальни(?:к|ца)|шеф|босс|руководитель|врач|доктор|стоматолог|терапевт|психолог|тренер|учитель|учительница|репетитор|хозяин|арендодатель|парикмахер|сосед|соседка|провайдер|оператор|банк|няня|бухгалтер)';
const soleRussianRoles =
  '(?:начальни(?:к|ца)|шеф|босс|руководитель|врач|доктор|стоматолог|терапевт|психолог|тренер|хозяин|арендодатель|парикмахер|провайдер|оператор)';
const russianThings =
  '(?:телефон|номер(?: телефона)?|адрес|почт[ау]|пароль|машин[ау]|велосипед|ноутбук|компьютер|банк|спортзал|провайдер[а]?|оператор[а]?|школ[ау]|ник|бюджет|аренд[ау]|зарплат[ау]|размер(?: обуви)?|график|диет[ау]|хобби|команд[ау]|клуб|цель|план|стоматолога|врача|тренера|парикмахера|репетитора)';
const russianValue = '(?:[\\p{L}\\p{N}])[\\p{L}\\p{N} .@+-]{0,40}?';
/** A name: «спортзал теперь закрыт» says nothing new about the gym. */
const russianNamed = '(?-i:\\p{Lu})[\\p{L}\\p{N} .@+-]{0,40}?';
const russianEnough = '(?=[\\s.!]*$|[,;]| (?:теперь|и|а|так что|потому))';

/** The same for Russian. */
export const russianTopics: TopicLanguage = {
  passes:
    /(?<![\p{L}])(?:сегодня|завтра|вчера|на (?:этой )?(?:неделе|день|неделю|время)|временно|пока|все еще|еще|почти|чуть|едва|не|нет|если|хочу|хочет|был|была|было|были|раньше)(?![\p{L}])/iu,
  phrases: [
    new RegExp(
      `(?:^|[,;:] )(?:теперь |сейчас |отныне )?(?<next>${russianValue}) (?:теперь |сейчас |— |- )*(?:мой |моя |мое |мои )(?:новый |новая |новое |новые )?любим(?:ый|ая|ое|ые) (?<kind>\\p{L}+)(?=[\\s.!]*$|[,;])`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] )(?:теперь |сейчас |отныне )?(?:у меня |у нас )?(?:теперь |уже |появил(?:ся|ась) )*(?:мой |моя |наш |наша )?нов(?:ый|ая|ое) (?<topic>${soleRussianRoles})(?=[\\s.!]*$|[,;:—–-]| [—–-])`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] )(?:теперь )?(?:мой |моя |наш |наша )?(?<topic>${russianRoles}|${russianThings}) (?:у меня |у нас )?теперь (?:— |- |это )?(?<next>${russianNamed})${russianEnough}`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] |(?<![\\p{L}])(?:я|мы|и) )(?:недавно |наконец |уже )*(?:сменил|поменял|заменил)[аи]? (?:свой |свою |мой |мою )?(?<topic>${russianThings})(?: на (?<next>${russianValue}))?${russianEnough}`,
      'iu',
    ),
    new RegExp(
      `(?:^|[,;:] )(?:(?:мой|моя|мое) )?(?<topic>${russianThings}) (?:сменил(?:ся|ась|ось)|изменил(?:ся|ась|ось)|поменял(?:ся|ась|ось))(?:(?::| на) (?<next>${russianValue}))?${russianEnough}`,
      'iu',
    ),
  ],
};
