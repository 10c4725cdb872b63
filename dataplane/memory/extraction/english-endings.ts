import { ofEnglishSpeaker } from './changed-things.ts';
import type { EndingLanguage } from './ended-values.ts';
import { englishVerbEndings } from './english-verb-endings.ts';

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const work = /^(?:employer|job|studies)/;
const liked = /^(?:taste|favourite|preference|drinks|eats|activity|learning|habit|my: hobb)/;
const planned = /^(?:wedding|appointment|my: (?:wed|exam|flight|appoint|trip|surgeri|holiday)|plan|goal)/;
const living = /^(?:my(?!: (?:phone|mobil|smartphon|laptop|comput|tablet|watch|car|bike))|has)/;

/** What one does in a car, or with children, says nothing about having them: "we don't eat in the car any more". */
const notBeside =
  '(?! (?:eat|drink|smoke|sleep|sing) (?:in|at|on|with) )(?! (?:drive|take) (?:the|my|our) \\p{L}+ (?:to|home|around) )';

/** Words of English speakers about facts that are no longer true. */
export const englishEndings: EndingLanguage = {
  ofSpeaker: ofEnglishSpeaker,
  endings: [
    ...englishVerbEndings,
    { before: `(?:no longer|no more)${notBeside}|used to` },
    {
      before: `(?:(?:do|does|did|am|is|are|was|'m|have|has)(?:n't| not)|don't|not|never)${notBeside}`,
      after: 'any ?more|any longer|after all',
    },
    {
      before:
        '(?:(?:stopped|quit)(?! [^,.;!?]{1,40} (?:at (?:\\d|noon|one|two|three|four|five|six|seven|eight|nine|ten|eleven|midnight)|last night)(?!\\p{L}))|gave up(?: on)?|given up(?: on)?|dropped|ditched|abandoned|went off|gone off|got rid of|replaced|swapped|traded(?: in)?|sold|(?:gave|threw|put) away|cut out)(?! (?:in|at|by|over|to|into|for|up|on|off|out) )',
    },
    {
      before:
        "over with|done with|finished with|through with|(?<=(?:am|'m|so) )over|resigned from|dropped out of|backed out of|moved (?:away|out|on) (?:from|of)|graduated from|broke up with|divorced|said goodbye to|goodbye",
    },
    { before: 'fed up with|tired of|bored (?:with|of)|sick of|lost interest in', topics: liked },
    { before: 'left|lost|quit', topics: work },
    {
      before:
        '(?:laid off|fired|let go|made redundant|dismissed|poached|hired (?:me )?away) (?:by|from|at)|(?:my )?last (?:day|week|shift) (?:at|with|for)|(?:handed in|gave|given|submitted|filed) (?:my|our) (?:notice|resignation) (?:at|to)',
      topics: work,
    },
    { before: '(?:hired|poached|lured) me away from', topics: work, isOfAnySubject: true },
    { before: 'left', after: 'for good|behind' },
    {
      before: 'let',
      after: 'go',
      topics: /^(?:car|uses|has: (?:car|bike|bicycl|motorbik|motorcycl|boat|hous|flat|apart|piano|guitar))/,
    },
    {
      before: '',
      after: '(?:and (?:I|me) (?:are|have) |and (?:I|me) )(?:finished|done|over|parted ways|broke up|split)',
      isAtEnd: true,
    },
    {
      before: '(?:pushed|moved|postponed|put (?:back|off)|delayed|rescheduled|brought forward)',
      after: '(?:back |forward )?(?:to|until|till|by)',
      topics: planned,
    },
    {
      before: '',
      after: '(?:has been|was|is|got) (?:pushed|moved|postponed|put back|put off|delayed|rescheduled|brought forward)',
      topics: planned,
    },
    {
      before: 'off(?: of)?',
      after: 'since|for (?:good|\\p{L}+ (?:days|weeks|months|years))|now|completely|entirely',
      topics: liked,
    },
    {
      before:
        '(?:put|marked|spelled|brought) (?:an? )?(?:end|stop) to|(?:banned|barred) (?:me|us) from|(?:talked|scared|put) (?:me|us) off',
    },
    {
      before:
        '(?<=(?:^|[,;:.] |and )(?:my|our) (?:left |right |bad )?(?:shoulder|knees?|back|hips?|ankle|wrist|elbow|neck|foot|feet|legs?|arm|hands?|heart|eyes|lungs|health|age|injury|doctor|arthritis|asthma|pregnancy|surgery|operation|accident) )(?:has |have )?(?:put|brought) (?:an? )?(?:end|stop) to(?! (?:his|her|their|your) )',
      isOfAnySubject: true,
    },
    { before: 'so much for (?:my|our|being)', topics: /^(?:trait|diet|taste|habit|routine|plan|goal|learning)/ },
    {
      before: "(?:can't|cannot|could not|couldn't) (?:eat|drink|have|stand|look at|face|do|play)",
      after: 'any ?more|any longer',
    },
    { before: 'cancelled|canceled|called off', topics: planned },
    { before: 'uninstalled|deleted|unsubscribed from', topics: /^uses/ },
    { before: 'moved out of|moved out from|handed back' },
    {
      before: 'left',
      after: 'for(?! (?:an?|the|my|our|some|work|home|lunch|dinner|good|now|today|tonight)(?!\\p{L}))',
      topics: /^(?:residence|employer|job)/,
    },
    { before: 'gave', after: 'up(?! to (?:an?|one|two|three|four|five|ten|\\d))' },
    { before: 'put|gave|threw', after: 'away|aside|out' },
    { before: 'no', after: 'for me(?: any ?more)?|any ?more', canPass: true },
    {
      before: '(?:switched|changed|moved|moved on|transferred|went|converted|upgraded|relocated|came) from',
      after: 'to|into|over',
    },
    {
      before: 'the|my|our|that',
      after: 'is gone|has gone|is history|was sold|was stolen|got stolen|went away|disappeared',
      topics: /^(?:car|has|my|uses|allergy|health|name of)/,
      isAtEnd: true,
    },
    // A battery can "die", too, and a person who says that a car died permanently has another car later.
    {
      before: 'the|my|our|that',
      after: 'died(?: on (?:me|us))?(?=, (?:so (?:now|I|we)|it is|now)(?!\\p{L}))',
      topics: /^car/,
    },
    {
      before: 'the|my|our|that',
      after: 'died',
      topics: /^(?:name of|has|my(?!: (?:phone|mobil|smartphon|laptop|comput|tablet|watch|car|bike)))/,
      isAtEnd: true,
    },
    {
      before: '',
      after: '(?:has |have )?(?:let (?:me|us) go|fired (?:me|us)|laid (?:me|us) off)',
      topics: work,
      isAtEnd: true,
    },
    {
      before: '',
      after:
        '(?:has |have |had )?(?:died|passed away|ran away|run away|is dead|is no longer with us|(?:had to be |was |were |got )(?:put down|put to sleep|rehomed|given away))',
      topics: living,
      isAtEnd: true,
    },
    {
      before: '',
      after:
        "(?:has |have |had )?(?:(?:was |were |got |been )(?:scrapped|totalled|totaled|written off|sold(?! out)|stolen|given away|discontinued|banned|taken away)|gone to the (?:scrapyard|dump|tip)|went to the (?:scrapyard|dump|tip)|is off (?:limits|the (?:table|menu))|didn't (?:stick|work out)|did not (?:stick|work out)|had (?:its|their|his|her) day|is a thing of the past)",
      topics: /^(?!birthday|age|name$)/,
    },
    {
      before: '',
      after:
        '(?:has |have |had )?(?:(?:was |were |got |been )?(?:called off|cancelled|canceled|abandoned|scrapped)|fallen through|fell through|never happened|is off|are off)',
      topics: planned,
      isAtEnd: true,
    },
    {
      before: '',
      after:
        '(?:thing |story |diagnosis |allergy )?(?:was|turned out to be) (?:an? |just |all |complete |total )*(?:misdiagnosis|mistake|false alarm|error|wrong|misdiagnosed|ruled out|nonsense|rubbish|myth|bogus|imaginary)',
      topics: /^(?:allergy|health|trait|eats|birthday|age|origin)/,
    },
    {
      before: '',
      after:
        '(?:has |have )?(?:retired(?! (?:last night|early))|resigned|quit|stepped down|left the (?:company|team|firm|job))',
      isAtEnd: true,
      topics: /^(?:my|name of): (?:boss|manag|colleagu|teacher|doctor|dentist|landlord|trainer|coach|therapist)/,
    },
    {
      before: '',
      after: "(?:bores?|annoys?|disgusts?|sickens?) me|(?:is|are)(?:n't| not) for me(?!, )",
      topics: liked,
      isAtEnd: true,
    },
    {
      before: '',
      after: 'is (?:history|in the past|behind (?:me|us)|gone)|was just a phase',
      isAtEnd: true,
      topics: /^(?!origin|birthday|age)/,
    },
    {
      before: '',
      after: "(?:isn't|aren't|is not|are not|is no longer|are no longer) (?:my|our)(?: \\p{L}+){1,3} any ?more",
    },
    { before: '', after: '(?:is|are) no longer (?:my|our)' },
    // A value whose name is left out later: "French was too hard, I gave it up".
    {
      before: '',
      after:
        "[^,.;:!?]{1,40}, (?:so |and |but )?(?:I|we)(?:'ve| have)? (?:just |finally |eventually )?(?:(?:gave|given) (?:it|that|them) up|(?:quit|sold|ditched|cancelled|abandoned) (?:it|that|them)|traded (?:it|that|them) in)(?=$|[.,!]| (?:last|years|ages)(?!\\p{L}))",
      topics: /^(?:taste|favourite|drinks|eats|activity|learning|studies|habit|car|uses|has|my: hobb)/,
    },
    {
      before:
        "(?:can't|cannot|could not|couldn't|can no longer) (?:stomach|bear|face|look at|touch|stand the (?:sight|smell|taste|thought) of)",
      topics: liked,
      canPass: true,
    },
    {
      before: "(?:haven't|have not) (?:touched|played|ridden|used|driven|eaten|drunk|done|practised|practiced)",
      after: '(?:in|for) (?:\\p{L}+ )?(?:years|ages|decades|(?:an? |over a )(?:year|decade))(?=[\\s.!]*$|,)',
      // A food that a person likes or cannot eat is still liked or avoided after the person did without it.
      topics: /^(?:activity|learning|habit|drinks|eats|car|uses|my: hobb)/,
    },
    {
      before: '',
      after:
        "(?:(?:does|do)(?:n't| not) (?:do (?:it|anything|much)|appeal|speak) any ?more (?:for|to) me|(?:does|do)(?:n't| not) (?:do (?:it|anything|much)|appeal|speak) (?:for|to) me any ?more|(?:is|are)(?:n't| not)(?: \\p{L}+){0,3} my (?:thing|taste|style|cup of tea|jam)(?: any ?more)?)",
      topics: liked,
      canPass: true,
    },
    {
      before: '',
      after:
        "(?:has |have |had )?(?:crossed (?:over )?the rainbow(?: bridge)?|(?:is|are)(?:n't| not) with us(?: any ?more| any longer)|is no more|(?:didn't|did not) (?:pull through|survive)(?=[\\s.!]*$|,)|went to (?:dog |cat |doggy |pet )?heaven)",
      topics: living,
    },
    {
      before: '',
      after:
        '(?:has |have |had )?(?:finally |just |sadly |suddenly )*(?:(?:gave|given) up the ghost|(?:bit|bitten) the dust|conked out for good|packed up for good|is kaput|is no more|failed (?:its|the) MOT|burned down|burnt (?:down|out)|was destroyed|is a write-off)',
      topics: /^(?:car|uses|has|my)/,
    },
    {
      before: "(?:cancelled|canceled|didn't renew|did not renew|gave up|ended|quit|stopped paying for) (?:my|our|the)",
      after: '(?:membership|subscription|season ticket|classes|lessons|course|contract|account)(?! (?:of|for|to) )',
      topics: /^(?:habit|activity|uses|learning|taste|routine|my: (?:hobbi|gym|sport))/,
      canPass: true,
    },
    {
      before: '',
      after:
        '(?:is|are) (?:perfectly |totally |completely )*(?:fine|ok|okay|safe|allowed)(?: again| now| after all)* for me(?: again| now| after all)*(?=[\\s.!]*$|,)',
      topics: /^(?:allergy|intolerance)/,
    },
    {
      before:
        "(?<=(?<!\\p{L})I )(?:can|may|am allowed to|'m allowed to|am able to) (?:now |finally )?(?:safely )?(?:eat|have|drink|touch)",
      after: '(?:again|after all)',
      topics: /^(?:allergy|intolerance)/,
    },
    {
      before: '',
      after:
        '(?:has |have )?(?:(?:was |got |been )+(?:transferred|replaced|fired|sacked)|moved (?:away|to another (?:company|department|branch|city|country|firm|team|practice|school))|emigrated|relocated|closed (?:his|her|the) practice)',
      isAtEnd: true,
      topics: /^(?:my|name of): (?:boss|manag|colleagu|teacher|doctor|dentist|landlord|trainer|coach|therapist)/,
    },
    { before: '(?:year|years|months) (?:without|free of)(?: an?| any| a single)?', topics: liked },
    {
      before:
        "swore off|sworn off|grew out of|grown out of|outgrew|outgrown|had enough of|turned (?:my|our) back on|parted with|parted ways with|weaned myself off|got over|(?<=(?:'m|am) )past",
      topics: /^(?!birthday|age|name$|origin|residence)/,
      canPass: true,
    },
    { before: 'instead of|rather than', isWeak: true, canPass: true },
    { before: "not|i said|i wrote|i typed|isn't|wasn't", isWeak: true },
  ],
  times:
    'now|last|yesterday|ago|today|recently|finally|suddenly|any ?more|these days|for (?:good|ever)|and|but|so|because|since|in (?:\\d{4}|january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:\\p{L}+|\\d+) (?:days|weeks|months|years) ago|a (?:day|week|month|year|while) ago|this (?:week|month|year|spring|summer|autumn|fall|winter)',
  boundary:
    "and|but|so|because|now|these|since|before|last|this|I|I'm|I've|it|it's|we|is|are|was|by|instead|either|just|anyway|for good|after|any|anymore|for|with|actually|sorry|up|behind",
  generic: wordsOf(
    'a an the my our that this to at in on as with of for from be being do doing does did work working live living learn learning study studying drink drinking eat eating like liking love loving prefer drive driving play playing practice practise practicing using call called calling name allergic allergy smoke smoking speak speaking go going have having own job company old need needing needed take taking use wear wearing',
  ),
  inside: wordsOf(
    'in at on to into from of by over around near under through during until while since when as ago years months weeks days yesterday today forever completely altogether entirely recently finally too either away',
  ),
  prepositions: 'in|at|on|to|for|with|from|by|of',
  almost: "almost|nearly|never|not|n't|about to|going to|want to|wanted to|tried to|try to|have to|plan to",
  replaces:
    /^(?:so )?(?:(?:it['’]?s|it is|that['’]?s) (?!not\b|\p{L}+ing\b|for\b|because\b|an? |the (?:end|best|worst)|time|too|so|very|been|over|about|all)\p{L}|(?:I['’]?m|I am|we['’]?re) (?:on to|now on|doing|into) |(?:I |we )?(?:switched|moved|changed|turned|stick|stuck) to |(?:I |we )?(?:got|bought|took up|started) (?:an? |\p{Lu}|doing |learning |playing ))|\b(?:these days|instead)$|^\p{L}+(?: \p{L}+)? now$/iu,
  present:
    /\b(?:now|these days|nowadays|from now on|actually|it(?:'s| is)|name|call|correction|sorry|meant|should have said|typo|autocorrect|wrong|mistake|but)\b/i,
  once: /\b(?:today|right now|thanks|thank you|for now|tonight|yesterday|last (?:night|time)|this (?:time|morning|afternoon|evening|week|weekend|once))(?!\p{L})/iu,
  corrects:
    /\b(?:meant|should have (?:said|written|typed)|correction|typo|auto-?correct(?:ed)?|mis(?:typed|spelled|spelt)|slip of the|or rather|make that|scratch that|(?:my|a) mistake)\b/i,
};
