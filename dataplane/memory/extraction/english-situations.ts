import { ofEnglishSpeaker } from './changed-things.ts';
import type { StatementLanguage } from './statement.ts';

type Situations = StatementLanguage['changed'];

const name = '(?-i:\\p{Lu})\\p{L}+(?: (?-i:\\p{Lu})\\p{L}+)?';
const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';
const partner = '(?:boyfriend|girlfriend|partner|fianc[eé]e?|husband|wife|other half)';
const end = '(?=[\\s.!]*$|,| (?:last|this|in|so|and|for good|yesterday|recently|now|again|a)(?!\\p{L}))';
/** The sentence says elsewhere that it is so now. */
const lasting = '(?=[^.!?]*(?<!\\p{L})(?:now|these days|nowadays|since|for good|from now on|every (?:day|morning))(?!\\p{L}))';
const partners = /^(?:has|my|name of): (?:girlfriend|boyfriend|partner|fianc|husband|wife)/;
const marital = /^marital status$/;
const alone = /(?<!\p{L})(?:single|divorced|separated|widow(?:ed|er)?|not (?:married|dating)|unmarried)(?!\p{L})/iu;
const wokeUp = /^routine: (?:get|wake) up$/;
const bosses = /^(?:my|name of): (?:boss|manag)/;

/** Situations of the speaker that exclude a known one, whatever words state it. */
export const englishSituations: Situations = [
  [
    ofEnglishSpeaker(
      `graduated(?! (?:from|to) (?:the|an?) )|(?:finished|completed) (?:my |the )?(?:degree|studies|uni|university|college|master's|phd|bachelor's)|got my (?:degree|diploma)|dropped out${end}|dropped out of (?:uni|university|college|school)`,
    ),
    /^(?:job|studies)$/,
    /(?<!\p{L})(?:students?|stud(?:y|ying|ies)|degree|uni|university|college|major(?:ing)?)(?!\p{L})/iu,
  ],
  [
    /^(?:[\p{L} ]{0,20}, )?(?:(?:the|our|my) (?:baby|babies|twins|little (?:one|girl|boy)) (?:has |have |finally )*(?:was born|were born|arrived|came|is here|are here)|(?:I )?gave birth|(?:I|we)(?:'ve| have)? had (?:the|our|my) baby)(?!\p{L})/iu,
    /^(?:trait: pregnan|expecting|health: pregnan|happened: pregnan)/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})(?:I(?:'ve| have)? (?:just |finally |recently )*met (?:someone|somebody|an? (?:\\p{L}+ )?(?:man|woman|guy|girl))(?: (?:new|special|lovely|wonderful))?(?=[\\s.!]*$|,| and)|(?:I'm|I am) (?:now )?(?:seeing|dating) (?:someone|somebody|an? |${name})|we(?:'ve| have) been together (?:since|for)|(?:I|we) (?:just |finally )*got (?:engaged|married|hitched))`,
      'iu',
    ),
    marital,
    alone,
  ],
  [
    new RegExp(
      `^(?:(?:we|she|he) (?:have |are |has )?(?:just |finally |recently )*(?:broke up|broken up|split up|called it quits|called off the (?:engagement|wedding)|not together any ?more|no longer together|dumped me|broke up with me|left me)${end}|(?:I'm|I am) (?:single|on my own) (?:again|now|these days)|I got dumped)`,
      'iu',
    ),
    partners,
  ],
  [
    ofEnglishSpeaker(
      '(?:gave|given) up (?:the )?(?:cigarettes|cigs|fags|smokes|tobacco|nicotine|vaping)|quit (?:the )?(?:cigarettes|cigs|fags|smokes|tobacco|nicotine|vaping)|(?:am|became|have become) (?:now )?a(?:n ex-| non-?)smoker|(?:smoked|had|stubbed out) my (?:very )?last (?:cigarette|smoke)|(?:am|have been|been) smoke-free',
    ),
    /^smoking/,
  ],
  [
    ofEnglishSpeaker(
      `(?:eat|am eating|are eating|have been eating|'ve been eating|been eating|am having) (?:(?:some|a bit of|a little|lots of) )*${meat} (?:again|now|once more|these days)`,
    ),
    /^diet/,
  ],
  [
    ofEnglishSpeaker(
      '(?:am|went|turned|became|have gone|gone|have become|have turned) (?:now |fully |completely |a |strictly )*(?:vegan|vegetarian|veggie|plant-based)(?! (?:restaurant|food|dish|today|for (?:the|a)))',
    ),
    /^(?:eats|diet)/,
    new RegExp(`(?<!\\p{L})${meat}(?!\\p{L})`, 'iu'),
  ],
  [
    /(?<!\p{L})(?:(?:I'm|I am|we're|we are) (?:all )?back (?:in|at) the office (?:full[- ]time|five days|every day|for good|permanently|now|these days)|(?:they|work|the company|my boss) (?:want|wants|called|ordered|ended|made) (?:me|us|everyone|remote work|home office|working from home)(?: to be| come)?(?: all)?(?: back)?(?: (?:in|to) the office)?(?: (?:full[- ]time|for good|every day))?$|no more (?:home office|working from home|remote work))(?!\p{L})/iu,
    /^way of work/,
    /(?<!\p{L})(?:home|remote(?:ly)?|hybrid)(?!\p{L})/iu,
  ],
  [
    new RegExp(
      `${lasting}.*?(?<!\\p{L})(?:(?:my|the) alarm (?:is (?:now )?set|goes off|rings|is) (?:for|at) \\d|I (?:now )?(?:sleep|lie in|stay in bed) (?:in )?(?:until|till) |(?:I'm|I am) (?:up|out of bed) (?:at|by|before) \\d)`,
      'iu',
    ),
    wokeUp,
  ],
  [
    ofEnglishSpeaker(`(?:got|found|have|took|accepted|landed) an? (?:new )?(?:job|position|role|offer) (?:at|with|from) ${name}|signed (?:a contract )?with ${name}|(?:have )?joined ${name} as|started (?:working )?(?:at|for) ${name}`),
    /^employer$/,
  ],
  [
    new RegExp(`hung up (?:my|the) (?:apron|scrubs|badge|uniform|gloves|whistle|stethoscope|boots|chalk)${lasting}|hung up (?:my|the) (?:apron|scrubs|badge|uniform|stethoscope)(?=, (?:I'm|I am) (?:training|retraining|studying|learning))`, 'iu'),
    /^job$/,
  ],
  [
    /^no more \p{L}+ for me, (?:so )?(?:now )?I (?:now )?(?:sell|teach|drive|write|code|program|work|manage|run|clean|repair|design|deliver|translate)(?!\p{L})/iu,
    /^job$/,
  ],
  [
    /^I(?:'ve| have)? (?:just )?(?:dyed|coloured|colored|bleached) (?:it|my hair) \p{L}+/iu,
    /^my: hair/,
  ],
  [
    /(?<!\p{L})(?:we(?:'ve| have)? (?:changed|switched) schools|s?he(?:'s| is) at (?-i:\p{Lu})\p{L}+ (?:school )?now)(?!\p{L})/iu,
    /^my: (?:son|daughter|kid|child|boy|girl) (?:goe|go|attend|is)/,
    /(?<!\p{L})(?:school|nursery|kindergarten|college|academy)(?!\p{L})/iu,
  ],
];

/** Words that state a value of one kind, and change it beside words for a lasting present. */
export const englishSituationStates: Situations = [
  [new RegExp(`(?:^|[,;:] )(?:${name} (?:has become|became) home|(?:(?:my|our) )?home is (?:now )?${name})(?! (?:of|to|for|town|page)(?!\\p{L}))`, 'u'), /^residence$/],
  [new RegExp(`(?<!\\p{L})(?:we|I)(?:'re|'m| are| am) (?:now |all )*(?:${name} (?:people|residents|folk)|an? ${name} resident)|(?<!\\p{L})(?:we|I) (?:now )?call ${name} home`, 'u'), /^residence$/],
  [new RegExp(`(?<!\\p{L})(?:I|we)(?:'m| am)? (?:now )?(?:bank|banking|have (?:my|our) accounts?|keep (?:my|our) money) (?:with|at) ${name}`, 'u'), /^my: bank/],
  [new RegExp(`(?<!\\p{L})I(?:'m| am)? (?:now )?(?:root for|cheer for|support|follow|a|an) ${name}(?: (?:fan|supporter))?(?!\\p{L})`, 'u'), /^(?:supports|my: (?:team|club))/],
  [new RegExp(`(?<!\\p{L})(?:our|my|the) (?:internet|broadband|wi-?fi|phone contract) (?:is|comes|runs) (?:now )?(?:from|with|by|through) ${name}`, 'u'), /^my: (?:provid|internet|broadband|isp)/],
  [new RegExp(`(?<!\\p{L})(?:I|we)(?:'m| am)? (?:now )?(?:see|seeing|go to|going to|with|a patient of) (?:Dr\\.?|Doctor) ${name}`, 'u'), /^(?:my|name of): (?:doctor|gp|dentist|therapist|physician)/],
  [new RegExp(`(?<!\\p{L})I (?:now )?(?:report to|work under) ${name}|(?:^|[,;:] )(?:and )?${name} (?:now )?(?:runs|leads|heads|manages|is (?:running|leading|managing|in charge of)) (?:the|our|my) (?:team|department|office|group|unit)`, 'u'), bosses],
  [/(?<!\p{L})I(?:'m| am)? (?:now )?\p{L}+ (?:\p{L}+ )?(?:for a living|as a living)/iu, /^job$/],
];

/** Ends of a relationship whose sentence begins with the partner. */
export const englishPartings: Situations = [
  [
    new RegExp(`^my ${partner} (?:and I (?:have |are |'ve )?(?:just |finally |recently )*(?:broke up|broken up|split up|split|separated|parted|divorced|no longer together|not together any ?more|over|called it quits|went our separate ways)${end}|(?:has |just |finally )*(?:dumped me|broke up with me|broke it off|ended (?:it|things)|left me(?=[\\s.!]*$|, | for (?:another|someone))|walked out))`, 'iu'),
    partners,
  ],
];
