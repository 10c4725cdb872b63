import { ofEnglishSpeaker } from './changed-things.ts';
import type { StatementLanguage } from './statement.ts';

type Situations = StatementLanguage['changed'];

const name = '(?-i:\\p{Lu})\\p{L}+(?: (?-i:\\p{Lu})\\p{L}+)?(?![\\p{L}\\p{N}])';
const meat = '(?:meat|chicken|fish|beef|pork|bacon|steaks?|burgers?|ham|lamb|turkey|sausages?|seafood)';
const partner = '(?:boyfriend|girlfriend|partner|fianc[eé]e?|husband|wife|other half)';
const end = '(?=[\\s.!]*$|,| (?:last|this|in|so|and|for good|yesterday|recently|now|again|a)(?!\\p{L}))';
/** The sentence says elsewhere that it is so now. */
const lasting =
  '(?=[^.!?]*(?<!\\p{L})(?:now|these days|nowadays|since|for good|from now on|every (?:day|morning))(?!\\p{L}))';
const partners = /^(?:has|my|name of): (?:girlfriend|boyfriend|partner|fianc|husband|wife)/;
const marital = /^marital status$/;
const alone = /(?<!\p{L})(?:single|divorced|separated|widow(?:ed|er)?|not (?:married|dating)|unmarried)(?!\p{L})/iu;
const wokeUp = /^routine: (?:get|wake) up$/;
const bosses = /^(?:my|name of): (?:boss|manag)/;

/** Situations of the speaker that exclude a known one, whatever words state it. */
export const englishSituations: Situations = [
  [
    ofEnglishSpeaker(
      `graduated(?! (?:from|to) (?:the|an?) )|(?:finished|completed) (?:my |the )?(?:degree|studies|uni|university|college|master's|phd|bachelor's)|got my (?:degree|diploma)|dropped out${end}|dropped out of (?:my |the )?(?:\\p{L}+ )?(?:uni|university|college|school|course|programme|program)(?!\\p{L})`,
    ),
    /^(?:job|studies)$/,
    /(?<!\p{L})(?:students?|stud(?:y|ying|ies)|degree|uni|university|college|major(?:ing)?)(?!\p{L})/iu,
  ],
  [
    /^(?:[\p{L} ]{0,20}, )?(?:(?:the|our|my) (?:baby|babies|twins|little (?:one|girl|boy)) (?:has |have |finally )*(?:was born|were born|arrived|came(?=[\s.!]*$|,)|(?:is|are) here(?=[\s.!]*$|,| (?:now|and))|arrived)|(?:I )?gave birth|(?:I|we)(?:'ve| have)? had (?:the|our|my) baby)(?!\p{L})/iu,
    /^(?:trait: pregnan|expecting|health: pregnan|happened: pregnan)/,
  ],
  [
    new RegExp(
      `(?:^|[,;:] |(?<!\\p{L})(?:we|I|and)(?:'ve| have)? )(?:just |finally |recently |all )*(?:settled|resettled|put down roots) (?:down )?in (?<next>${name})`,
      'iu',
    ),
    /^residence$/,
  ],
  [ofEnglishSpeaker(`(?:was|got|been|have been|'ve been) (?:headhunted|poached)(?=[\\s.!]*$|,| by)`), /^employer$/],
  [
    /(?<!\p{L})(?:(?:the|our|my) engagement (?:is|was) (?:off|called off|broken off|over)|(?:called off|broke off|ended) (?:the|our|my) engagement)(?!\p{L})/iu,
    marital,
    /(?<!\p{L})engaged(?!\p{L})/iu,
  ],
  [
    ofEnglishSpeaker(
      `(?:eat|eating|am eating|are eating|have been eating|'ve been eating|started eating|began eating) (?:\\p{L}+ and |\\p{L}+, )*(?:meat|cheese|eggs|dairy|butter|milk|fish|chicken)(?: and \\p{L}+)? (?:again|now|once more|these days)`,
    ),
    /^(?:diet|eats)/,
    /(?<!\p{L})(?:vegan|don't eat|do not eat|no (?:meat|fish|dairy)|never eat|plant-based)(?!\p{L})/iu,
  ],
  [
    /^(?:[^,.!?]{0,60}, )?(?:no (?:cigarettes|smokes|smoking|cigs|fags)|(?:I )?(?:haven't|have not) (?:smoked|had a (?:cigarette|smoke))) (?:(?:for|in) (?:\p{L}+|\d+) (?:weeks|months|years)|since (?:\d{4}|january|february|march|april|may|june|july|august|september|october|november|december|last (?:year|month)|new year))(?!\p{L})/iu,
    /^smoking/,
  ],
  [
    /^(?:I|we) (?:just )?(?:had|celebrated|have had) my (?<next>\d{1,3})(?:st|nd|rd|th) birthday(?=[\s.!]*$|,| (?:last|yesterday|on|this|in|birthday))/iu,
    /^age$/,
  ],
  [
    /^(?:I'm|I am) (?:now |already |officially )?(?<next>\d{1,3})(?: now| already| as of (?:today|yesterday|this \p{L}+|last \p{L}+)| since \p{L}+)(?=[\s.!]*$|,)/iu,
    /^age$/,
  ],
  [
    ofEnglishSpeaker(
      `(?:start|am starting|'m starting|started) (?:work )?(?:at|with) ${name}|(?:got|found|landed|have) a job|was hired|got hired|back in work|back at work`,
    ),
    /^(?:employment|job|trait: (?:unemploy|jobless))/,
    /(?<!\p{L})(?:unemployed|jobless|out of work|between jobs|looking for (?:a job|work)|job hunting)(?!\p{L})/iu,
  ],
  [
    /(?<!\p{L})I(?:'ve| have)? (?:finally |just |recently )*(?:bought|got|picked up|moved to|switched to) (?:an? |the )?(?:new )?(?:iPhone|Pixel|Galaxy|Samsung|Xiaomi|Huawei|Fairphone|Nokia|OnePlus)(?! (?:for (?:my|our|his|her|the)|case|charger|watch|cable|cover|buds|tablet|tv))(?=[^.!?]*(?<!\p{L})(?:now|instead|finally|the old|went to|is gone|gave|sold|these days)(?!\p{L}))|(?<!\p{L})I(?:'ve| have)? finally (?:bought|got) an? (?:iPhone|Pixel|Galaxy|Samsung)(?=[\s.!]*$|,)/iu,
    /^(?:my: (?:phone|mobil|smartphon))/,
  ],
  [
    /(?<!\p{L})(?:I(?:'ve| have)? (?:just |finally |recently )*moved in with (?:my|an?|some) \p{L}+|we(?:'ve| have)? (?:just |finally |recently )*moved in together|have an? (?:new )?(?:flatmate|roommate|housemate) now)(?!\p{L})/iu,
    /^household/,
    /(?<!\p{L})(?:alone|on my own|by myself)(?!\p{L})/iu,
  ],
  [
    /(?<!\p{L})(?:I(?:'ve| have)? (?:just |finally |recently )*met (?:someone|somebody)(?: (?:new|special|lovely|wonderful))?(?=[\s.!]*$)|(?:I'm|I am) (?:now )?(?:seeing|dating) (?:someone|somebody)(?=[\s.!]*$|,| (?:now|new|special|and|since)))/iu,
    marital,
    /(?<!\p{L})(?:single|not dating)(?!\p{L})/iu,
  ],
  [
    /(?<!\p{L})(?:(?:I|we)(?:'ve| have)? (?:just |finally )*(?:got (?:engaged|married|hitched)|remarried|married again))/iu,
    marital,
    alone,
  ],
  [
    new RegExp(
      `^(?:(?:we (?:have |are )?(?:just |finally |recently )*(?:broke up|broken up|split up|called off the (?:engagement|wedding)|not together any ?more|no longer together)|s?he (?:has )?(?:just |finally |recently )*(?:dumped me|broke up with me))${end}|(?:I'm|I am) (?:single|on my own) (?:again|now|these days)|I got dumped)`,
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
    /(?<!\p{L})(?:(?:I'm|I am|we're|we are) (?:all )?back (?:in|at) the office (?:full[- ]time|five days|every day|for good|permanently|these days)(?!\p{L})|(?:they|work|the company|my boss|we) (?:ended|scrapped|stopped|cancelled|banned) (?:remote work|working from home|home office)|(?:they|work|the company|my boss) (?:want|wants|called|ordered|ended|made) (?:me|us|everyone|remote work|home office|working from home)(?: to be| come)?(?: all)?(?: back)?(?: (?:in|to) the office)?(?: (?:full[- ]time|for good|every day))?$|no more (?:home office|working from home|remote work))(?!\p{L})/iu,
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
    ofEnglishSpeaker(
      `(?:got|found|have|took|accepted|landed) an? (?:new )?(?:job|position|role) (?:at|with) ${name}|(?:took|accepted) an? offer from ${name}|(?:have )?joined ${name} as|started working (?:at|for) ${name}`,
    ),
    /^employer$/,
  ],
  [
    new RegExp(
      `hung up (?:my|the) (?:apron|scrubs|badge|uniform|gloves|whistle|stethoscope|boots|chalk)${lasting}|hung up (?:my|the) (?:apron|scrubs|badge|uniform|stethoscope)(?=, (?:I'm|I am) (?:training|retraining|studying|learning))`,
      'iu',
    ),
    /^job$/,
  ],
  [
    /^no more \p{L}+ for me, (?:so )?(?:now )?I (?:now )?(?:sell|teach|drive|write|code|program|work|manage|run|clean|repair|design|deliver|translate)(?!\p{L})/iu,
    /^job$/,
  ],
  [/^I(?:'ve| have)? (?:just )?(?:dyed|coloured|colored|bleached) (?:it|my hair) \p{L}+/iu, /^my: hair/],
  [
    /(?<!\p{L})we(?:'ve| have)? (?:changed|switched) schools(?!\p{L})/iu,
    /^my: (?:son|daughter|kid|child|boy|girl) (?:goe|go|attend|is)/,
    /(?<!\p{L})(?:school|nursery|kindergarten|college|academy)(?!\p{L})/iu,
  ],
];

/** Words that state a value of one kind, and change it beside words for a lasting present. */
export const englishSituationStates: Situations = [
  [
    new RegExp(
      `(?:^|[,;:] )(?:${name} (?:has become|became) home|(?:(?:my|our) )?home is (?:now )?(?<next>${name}))(?! (?:of|to|for|town|page)(?!\\p{L}))`,
      'u',
    ),
    /^residence$/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})(?:we|I)(?:'re|'m| are| am) (?:now |all )*(?:${name} (?:people|residents|folk)|an? ${name} resident)|(?<!\\p{L})(?:we|I) (?:now )?call (?<next>${name}) home`,
      'u',
    ),
    /^residence$/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})(?:I|we)(?:'m| am)? (?:now )?(?:bank|banking|have (?:my|our) accounts?|keep (?:my|our) money) (?:with|at) (?<next>${name})`,
      'u',
    ),
    /^my: bank/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})I(?:'m| am)? (?:now )?(?:root for|cheer for|support|follow|a|an) ${name}(?: (?:fan|supporter))?(?!\\p{L})`,
      'u',
    ),
    /^(?:supports|my: (?:team|club))/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})(?:our|my|the) (?:internet|broadband|wi-?fi|phone contract) (?:is|comes|runs) (?:now )?(?:from|with|by|through) ${name}`,
      'u',
    ),
    /^my: (?:provid|internet|broadband|isp)/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})(?:I|we)(?:'m| am)? (?:now )?(?:see|go to|a patient of) (?:Dr\\.?|Doctor) (?<next>${name})(?! (?:for|about) (?:an?|the) )`,
      'u',
    ),
    /^(?:my|name of): (?:doctor|gp|dentist|therapist|physician)/,
  ],
  [
    new RegExp(
      `(?<!\\p{L})I (?:now )?(?:report to|work under) (?<next>${name})|(?:^|[,;:] )(?:and )?(?<next>${name}) (?:now )?(?:runs|leads|heads|manages|is (?:running|leading|managing|in charge of)) (?:the|our|my) (?:team|department|office|group|unit)`,
      'u',
    ),
    bosses,
  ],
  [/(?<!\p{L})I(?:'m| am)? (?:now )?\p{L}+ (?:\p{L}+ )?(?:for a living|as a living)/iu, /^job$/],
];

/** Acts of others whose sentence begins with them. */
export const englishPartings: Situations = [
  [
    /^they(?:'ve| have)? (?:ended|scrapped|stopped|cancelled|banned) (?:remote work|working from home|home office)(?!\p{L})|^they(?:'ve| have)? (?:want|called|ordered) (?:me|us|everyone) back (?:in|to) the office(?=[\s.!]*$|,| (?:full|every|for good))/iu,
    /^way of work/,
    /(?<!\p{L})(?:home|remote(?:ly)?|hybrid)(?!\p{L})/iu,
  ],
  [
    /^my (?:partner|boyfriend|girlfriend|husband|wife|fianc[eé]e?|brother|sister|mother|mum|mom|father|dad|son|daughter|friend|parents) (?:has |have |just |finally |recently )*moved (?:back )?in(?: with (?:me|us))?(?=[\s.!]*$|,| (?:last|this|in|recently))/iu,
    /^household/,
    /(?<!\p{L})(?:alone|on my own|by myself)(?!\p{L})/iu,
  ],
  [
    new RegExp(
      `^my ${partner} (?:and I (?:have |are |'ve )?(?:just |finally |recently )*(?:broke up|broken up|split up|split|separated|parted|divorced|no longer together|not together any ?more|over|called it quits|went our separate ways)${end}|(?:has |just |finally )*(?:dumped me|broke up with me|broke it off|ended (?:it|things)|left me(?=[\\s.!]*$|, | for (?:another|someone))|walked out))`,
      'iu',
    ),
    partners,
  ],
];
