import { englishChangedThings, ofEnglishSpeaker } from './changed-things.ts';
import { englishBefalls, englishClassEvents, englishClassStates } from './class-changes.ts';
import { englishClauses } from './clause-endings.ts';
import { englishEndings } from './english-endings.ts';
import { englishPartings, englishSituationStates, englishSituations } from './english-situations.ts';
import { englishLifeChanges } from './life-changes.ts';
import { englishTopics } from './named-topics.ts';
import { englishPersons } from './relatives.ts';
import { englishRenewals } from './renewals.ts';
import type { StatementLanguage } from './statement.ts';

/** Words after "call me" that are not names. */
export const notNames =
  /^(?:back|later|tomorrow|tonight|today|any ?time|please|maybe|when|if|on|at|after|before|an?|the|crazy|old|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

/** Pattern of the words for an occupation, up to three words before it included. */
export const englishProfessions =
  '(?:\\p{L}+[ -]){0,3}(?:\\p{L}+(?:er|or|ist|ian|eer|ant|yst|ologist|smith|wright)|nurse|midwife|housewife|chef|cook|pilot|judge|architect|clerk|coach|monk|priest|surgeon|dentist|scientist|student|guard|maid|mechanic|tutor|agent|athlete|entrepreneur|freelancer|CEO|CTO|librarian|paramedic|vet|diplomat|poet|model|barista|researcher)';

/** Targets of a move that are not places of residence, such as a server or a branch. */
export const englishNonPlaces =
  /^(?:(?:an?|the|another|our|my|this|that|next|new) )*(?:(?:new|different|separate|dedicated|other|bigger|faster) )*(?:servers?|branch|host|cluster|database|folder|directory|version|library|framework|account|provider|platform|repository|tab|page|slide|level|queue|sprint|topic|step|point|question|cloud|production|staging|remote|kubernetes|docker|slack|teams|zoom|jira|notion|github|gitlab|typescript|javascript|python|rust|react|postgres(?:ql)?|mysql|linux|windows|aws|azure|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/i;

/** Matches verbs that need their subject: at the beginning of a sentence or after "I". */
function atStart(words: string): RegExp {
  return new RegExp(
    `(?:^|[,:;]\\s*|\\b(?:I|we)(?:'ve| have)? )(?:(?:just|recently|finally|already|also) )*(?:${words})(?!\\p{L})`,
    'iu',
  );
}

/** Words of English around statements: before them, at their end, in negations, requests and changes. */
export const englishWords: Omit<StatementLanguage, 'forms' | 'paraphrases'> = {
  endings: englishEndings,
  fillers:
    /^(?:(?:well|so|and|but|oh|ah|um|hm+|yes|yeah|no(?! (?:more|longer)\b| \p{L}+(?: \p{L}+)? for me\b)|nope|hi|hello|hey|hey there|also|ok(?:ay)?|ok one more thing|actually|by the way|btw|anyway|you know|fyi|for (?:the record|context)|(?:just )?so you know|as you know|to be (?:honest|clear|fair)|honestly|please|remember|note|remember that|note that|please remember(?: that)?|please note(?: that)?|keep in mind(?: that)?|update|news|heads up|correction|wait|sorry|as of (?:today|now|this week)|these days|nowadays|since then|lately|recently|yesterday|the other day|(?:last|this) (?:week|month|year|spring|summer|autumn|fall|winter)|thanks|thank you|good (?:morning|evening|afternoon)|right|sure|great|now|fun fact|in fact|guess what|(?:(?:the|my) )?(?:(?:new|latest|last|recent) )?(?:doctors?|gp|dentist|lab(?:oratory)?|clinic|hospital|allergist|specialist|(?:(?:blood|allergy|lab) )?tests?|(?:(?:test|blood|lab) )?results) (?:says?|said|found|confirms?|confirmed|shows?|showed|told me)(?: that)?(?=[\s,:]+(?:I|I['’]?m|I['’]?ve|my|it['’]?s (?=[^.!?]*, not ))\b)|(?:you )?know what|surprise|(?:it )?turn(?:s|ed) out(?: that)?|(?:big|great|good|bad|sad|breaking) news|news ?flash|long story short|my (?:mistake|bad)|i should have (?:said|written)|i meant(?: to say)?|(?:that was )?(?:a )?typo|auto-?correct(?:ed)?|(?:i )?mis(?:typed|spelled|spelt)(?: (?:it|that))?|slip of the (?:tongue|pen|finger)|or rather|rather(?=\s*,)|make that|that is(?=\s*,)|oops|whoops|scratch that|(?:quick|small|little) (?:update|correction|note)|i mean|perfect|wow|makes sense|great answer|never mind|good one|interesting|to give you context|and yes|anyhow|one more thing|last thing|you(?:['’]?re| are) (?:(?:so|really|very|too|quite|pretty|absolutely|totally|not|the) )*\p{L}+)(?=[\s,:!–—-])[\s,:!–—-]+)+/iu,
  tails: [
    /(?:[\s,.!]*(?:\bhaha+\b|\blol\b|\btbh\b|\bjust \p{L}+ing\b|\bhonestly\b|\bthough\b|\bbtw\b|\bby the way\b|\p{Extended_Pictographic}\uFE0F?|[:;]-?[)D]+(?![)D])|\)\)+(?!\))))+[\s.!…)]*$/iu,
    // A remark on the statement, not a condition of it: "if that matters", and after a comma "if you must know".
    /(?: (?:if|in case) (?:that|this)|,\s*(?:if|in case) (?:it|that|this|you|anyone))(?:['’]?s)?(?: \p{L}+){1,3}[\s.!…]*$/iu,
  ],
  plain: [
    [/\bi['’]?m\b/gi, "I'm"],
    [/\bi['’]?ve\b/gi, "I've"],
    [/\b(do|did|does|is|are|was|have|has|ca|wo)n['’]?t\b/gi, "$1n't"],
    [/^i\b/, 'I'],
    [/(?<!\s)\s+,/g, ','],
    [/\b(my|our) (\p{L}+)'s (?=(?:an?|the|now|called|named) )/giu, '$1 $2 is '],
    // In a sentence about what everybody calls the speaker, the word is a name only if the speaker asks for the same
    // name.
    [
      /\b(?:everyone|everybody|people|friends|they all) (?:just )?says? (?=(?-i:\p{Lu})\p{L}+,? (?:please (?:do|say|call|use)|so (?:can|do|may) you|and you|you (?:can|may)|do the same|feel free)(?!\p{L}))/giu,
      'people call me ',
    ],
    // After a correction, "the dog" is the dog that was mentioned before.
    [
      /(?<=\b(?:auto-?correct(?:ed)?|typo|correction|I meant|my mistake|or rather|make that|scratch that|(?:mis)(?:typed|spelled|spelt))[\s,:–—-]{1,3})the (?=(?:dog|cat|puppy|kitten|parrot|horse|hamster|rabbit|boss|wife|husband|son|daughter|baby)(?:'s name)? is (?-i:\p{Lu})\p{L}+$)/giu,
      'my ',
    ],
  ],
  asked:
    /(?<![\s,])(?<!\b(?:guess|know|for))[\s,]+(?=(?:(?:what|who|whom|how|why|where|when)(?:['’]?(?:s|re|d|ll))?|which|whose|in which|is|are|do|does|did|can|could|would|will|should|if|suppose|imagine|let['’]?s|explain|translate|write|tell|give|make|fix|recommend|rewrite|summari[sz]e|start|continue)\b|(?:the|an?|my|our|his|her|their|they|someone|s?he)\b[^"“«:]{0,40}(?:\b(?:says?|said|writes|wrote|texted|told \p{L}+)|:)\s*["“«])/giu,
  since:
    /\b(?:now|these days|again|actually|started at|took up|we['’]?ll be|my (?:birthday|allergy|new boss) is|about my birthplace\s*,?\s*it['’]?s|nicotine-free)\b/i,
  changed: [
    ...englishChangedThings,
    ...englishLifeChanges,
    ...englishClassEvents,
    ...englishSituations,
    [
      new RegExp(
        `\\b(?:I|we)(?:'ve| have)? (?:just |recently |all )?(?:moved|relocated)(?! on\\b| (?:to )?(?:the|an?|another|my|our|it|this|that|them|some)\\b| out of (?:the|my|your) | to ${englishNonPlaces.source.slice(1)})(?=,|$| (?:to|out|away|house|abroad|last)\\b)`,
        'i',
      ),
      /^residence$/,
    ],
    [
      /\b(?:I|we)(?:'ve| have)? (?:just )?(?:switched|changed) (?:employers|jobs|companies)\b|\bI(?:'ve)? (?:quit|left) (?:my|that|my old|the old) (?:job|company|firm)\b(?! (?:\p{L}+ )?(?:party|dinner|meeting|chat)\b)|\bI (?:was|got|'ve been) (?:laid off|fired|hired)\b/iu,
      /^(?:employer|job)$/,
    ],
    [
      ofEnglishSpeaker('changed (?:cities|countries|towns)|(?:my|our) address (?:has )?changed|have a new address'),
      /^residence$/,
    ],
    [
      /^(?:my (?:husband|wife|partner) and I|I and my (?:husband|wife|partner)) (?:have |are |got )?(?:separated|split up|broke up|divorced|getting divorced)(?!\p{L})/iu,
      /^marital status$/,
    ],
    [atStart('(?:changed|switched) careers?|retrained|gave (?:that|my) trade up'), /^job$/],
    [
      /^(?:(?:the|my|our) )?divorce came through\b|\bI'm (?:divorced|single again)\b|\b(?:I|we)(?:'ve)? (?:got |just got )?divorced\b|\bwe(?:'ve)? (?:split up|broke up)(?! (?:into|in|the|a|our|for|over)\b)/i,
      /^marital status$/,
    ],
    [
      ofEnglishSpeaker(
        '(?:eat|eating) (?:meat|fish|everything) again|(?:quit|dropped|gave up on|am done with) (?:that|my) diet',
      ),
      /^diet/,
    ],
    [/\bchanged my (?:legal )?name\b|\bI (?:now go by \p{L}+|go by \p{L}+ now)(?!\p{L})/iu, /^name$/],
    [
      ofEnglishSpeaker(
        "kicked the habit|(?:quit|stopped|gave up|given up) smoking(?! (?:inside|indoors|around|near|at|before|during|in the|in my|on the|for (?:the|a|an))(?!\\p{L}))|haven't smoked|(?:I'm )?nicotine-free",
      ),
      /^smoking/,
    ],
    [
      ofEnglishSpeaker('(?:traded (?:the old one|my car|that car) in|sold (?:my|our|that) car)'),
      /^(?:car|my: car|has: car)/,
    ],
    [/\b(?:switched|changed) my (?:major|degree)\b/i, /^studies/],
    [ofEnglishSpeaker('(?:dropped|quit|gave up) that language'), /^learning/],
    [
      ofEnglishSpeaker(
        "(?:stopped going to (?:that|those classes|it)|stopped doing (?:that|it)|(?:do not|don't) (?:go there|do (?:that|it)) any ?more)",
      ),
      /^(?:activity|habit|my: hobbi)/,
    ],
    [/\bgave up my old hobby\b/i, /^my: hobbi/],
    [ofEnglishSpeaker('wiped (?:that|my) (?:machine|laptop)'), /^uses/],
    [/\bmisspoke about my birthplace\b/i, /^origin/],
    [/\bmy allergy (?:is|turned out)\b/i, /^(?:allergy|my: allergi)/],
    [/\bI've gone right off it\b|\b(?:is|are) my favou?rite now\b/i, /^favourite/],
    [/\bI(?:'ve)? changed my mind about the colou?r(?! of\b)/i, /^favourite: colou?r/],
    [/\bI don't like that dish any ?more\b/i, /^taste/],
    [
      /\b(?:the plan(?:['’]?s| has)|(?:the|our|my) plans(?:['’]ve| have)?) changed\b.*\b(?:moving|going|flying|travelling)\b/i,
      /^plan/,
    ],
    [/\bsold my instrument\b/i, /^activity/],
    [/\bmy doctor told me to stop drinking\b/i, /^(?:drinks|habit: (?:have|drink))/],
    [ofEnglishSpeaker('that boss left(?=,|$| my new\\b)'), /^my: boss/],
    [ofEnglishSpeaker('switched phones'), /^my: phone/],
    [
      ofEnglishSpeaker('renamed (?:the|our|my) (?:dog|cat|pet|puppy|kitten|parrot|horse|hamster|rabbit)'),
      /^(?:my|has): (?:dog|cat|pet|puppi|kitten|parrot|hors|hamster|rabbit)/,
    ],
    [ofEnglishSpeaker('typed the wrong month(?: before)?(?=,|$| my)'), /^(?:birthday|my: birthday)/],
    [/\btypo\b.*\babout my age\b/i, /^age$/],
  ],
  states: [...englishClassStates, ...englishSituationStates],
  befalls: [...englishBefalls, ...englishPartings],
  clauses: englishClauses,
  named: englishTopics,
  persons: englishPersons,
  renewals: englishRenewals,
  others:
    /^(?:s?he|they(?!(?:['’]ve| have)? \p{L}+ (?:me|us)(?!\p{L}))|you|somebody|someone|everyone|the hero(?:ine)?|(?:my|our|his|her|their) (?:(?:best|good|close|oldest|old|older|elder|younger|little|big|twin) )*(?:wife|husband|partner|girlfriend|boyfriend|ex|brother|sister|son|daughter|mother|mum|mom|father|dad|parents|friend|neighbou?r|colleague|uncle|aunt|cousin))(?![\p{L}])/iu,
  notStated:
    /\b(?:if|unless|suppose|imagine|pretend|would|could|might|maybe|perhaps|wish|hope|hoping|wonder|wondering|guess|should|said|says|asked|told me|wrote|for example|e\.g\.|as if|in (?:my|the|this) (?:story|novel|game|dream|essay|poem))\b|^(?:tell|help|show|explain|write|translate|summari[sz]e|find|let|give|make|can(?!['’]t)|could|(?:do|does|did)(?!n['’]?t| not)|is|are|what|who|where|when|why|how)\b/i,
  negations: [
    [/\bno longer (?=\p{L})/iu, ''],
    [/\b(?:any ?more|any longer)\b/i, ''],
    [/\b(?:do not|don['’]?t|did not|didn['’]?t)\s+/i, ''],
    [/\b(I am|I['’]?m|is|are|was) not\b/i, '$1'],
    [/\b(is|are|was)n['’]t\b/i, '$1'],
    [/\b(?:have not|haven['’]t|has not|hasn['’]t)\s+/i, 'have '],
    [/\bI (?:have )?(?:stopped|quit|gave up|given up) (?:to )?(\p{L}+?)(?:ing)\b/iu, 'I $1'],
    [/\bI used to\b/i, 'I'],
  ],
  forget: /^(?:please )?(?:forget|delete|remove|erase)(?: the fact)?(?: that)?\s+/i,
};

/** Beginnings of statements about a temporary possession or liking. */
export const fleeting =
  /^(?:it|that|this|these|those|you|your|yours|them|him|her|how|what|when|where|why|which|the way|the idea|the sound|everything|nothing|something|anything|to (?:see|know|hear|ask|talk|say|think|be|thank)|a (?:bit|lot|little|question|minute|moment|second|problem|look|feeling|hunch|chance|point|go)|no (?:idea|clue|time|problem|questions?)|(?:some|more|many|another|one|two|a few|any|an?|the|enough|no) (?:more )?(?:questions?|problems?|issues?|ideas?|trouble|time|doubts?|errors?|thoughts?|meetings?|calls?|headaches?|feelings?|plans?|news|work|things?|stuff|clue|answers?|response|reason|point|impression|sense|bug|request|suggestion|fun|good|great|nice|bad|rough|long|busy|day|weekend|evening|morning|week)|questions?|problems?|issues?|time|trouble|fun|been|had|got|seen|done|heard|tried|read|already|just|to)\b/i;
/** Beginnings of statements about a temporary state or activity. */
export const unsure =
  /^(?:not sure|sure|fine|good|ok|okay|well|great|sorry|afraid|glad|happy|sad|tired|bored|hungry|here|back|done|ready|late|busy|curious|confused|lost|stuck|kidding|joking|just|trying|looking|going|wondering|thinking|reading|writing|asking|talking|feeling|a (?:bit|little|lot|tad|mess|fool))\b/i;
