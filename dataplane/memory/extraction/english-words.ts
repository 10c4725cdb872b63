import type { StatementLanguage } from './statement.ts';

/** Words of English around statements: before them, at their end, in negations, requests and changes. */
export const englishWords: Omit<StatementLanguage, 'forms'> = {
  fillers:
    /^(?:(?:well|so|and|but|oh|ah|um|hm+|yes|yeah|no|nope|hi|hello|hey|hey there|also|ok(?:ay)?|ok one more thing|actually|by the way|btw|anyway|you know|fyi|for (?:the record|context)|(?:just )?so you know|as you know|to be (?:honest|clear|fair)|honestly|please|remember|note|remember that|note that|please remember(?: that)?|please note(?: that)?|keep in mind(?: that)?|update|news|heads up|correction|wait|sorry|as of (?:today|now|this week)|these days|nowadays|since then|lately|recently|thanks|thank you|good (?:morning|evening|afternoon)|right|sure|great|now|fun fact|in fact|i mean|to give you context|and yes|anyhow|one more thing|last thing)(?=[\s,:!–—-])[\s,:!–—-]+)+/i,
  plain: [
    [
      /(?:[\s,.!]*(?:\bhaha+\b|\blol\b|\btbh\b|\bjust saying\b|\bif that matters\b|\bhonestly\b|\bthough\b|\bnothing fancy\b|\bbtw\b|[:;]-?[)D]+|\)\)+))+[\s.!)]*$/i,
      '',
    ],
    [/\bi['’]?m\b/gi, "I'm"],
    [/\bi['’]?ve\b/gi, "I've"],
    [/\b(do|did|does|is|are|was|have|has|ca|wo)n['’]?t\b/gi, "$1n't"],
    [/^i\b/, 'I'],
    [/\s+,/g, ','],
  ],
  changed: [
    [
      /\b(?:I|we)(?:'ve| have)? (?:just |recently |all )?(?:moved|relocated)(?! on\b)(?! (?:to )?(?:the|a|an|another|my|our|it|this|that|them|some)\b)(?=,|$| (?:to|out|away|house|abroad|last|in|this)\b)/i,
      /^residence$/,
    ],
    [
      /\b(?:switched|changed) (?:employers|jobs|companies)\b|\bI(?:'ve)? (?:quit|left) (?:my|my old|that|the old) (?:job|company|firm)\b|\bI (?:was|got|'ve been) (?:laid off|fired|hired)\b/i,
      /^(?:employer|job)$/,
    ],
    [/\b(?:changed|switched) careers?\b|\bI(?:'ve)? retrained\b|\bgave (?:that|my) trade up\b/i, /^job$/],
    [
      /\bdivorce came through\b|\bI'm (?:divorced|single again)\b|\b(?:got|we've) divorced\b|\bwe(?:'ve)? (?:split up|broke up)\b/i,
      /^marital status$/,
    ],
    [/\beating meat again\b|\b(?:quit|dropped|done with|gave up(?: on)?) (?:that|my) diet\b/i, /^diet/],
    [/\bchanged my (?:legal )?name\b/i, /^name$/],
    [/\bkicked the habit\b|\b(?:quit|stopped) smoking\b|\bnicotine-free\b/i, /^smoking/],
    [
      /\btraded (?:the old one|my car|that car) in\b|(?:^|[,:] |\bI(?:'ve| have)? )(?:just )?sold (?:my|that) car\b/i,
      /^(?:car|my: car|has: car)/,
    ],
    [/\b(?:switched|changed) my (?:major|degree)\b/i, /^studies/],
    [/\b(?:dropped|quit|gave up) that language\b/i, /^learning/],
    [/\bgave up my old hobby\b/i, /^my: hobbi/],
    [/\bwiped (?:that|my) (?:machine|laptop)\b/i, /^uses/],
    [/\bmisspoke about my birthplace\b/i, /^origin/],
    [/\b(?:tests?|results) came back\b|\bmy allergy (?:is|turned out)\b/i, /^(?:allergy|my: allergi)/],
    [/\bgone right off it\b|\btastes change\b|\bis my favou?rite now\b|\bare my favou?rite now\b/i, /^favourite/],
    [/\bchanged my mind about the colou?r\b/i, /^favourite: colou?r/],
    [/\bdon't like that dish any ?more\b/i, /^taste/],
    [/\b(?:the plan(?:'s| has)|(?:the|our|my) plans(?:'ve| have)?) changed\b/i, /^plan/],
    [/\bsold my instrument\b/i, /^activity/],
    [/\bdoctor told me to stop drinking\b/i, /^(?:drinks|habit)/],
    [/\bthat boss left\b/i, /^my: boss/],
    [/\bswitched phones\b/i, /^my: phone/],
    [/\brenamed (?:the|our|my) (?:dog|cat)\b/i, /^my: (?:dog|cat)/],
    [/\btyped the wrong month\b/i, /^(?:birthday|my: birthday)/],
    [/\btypo\b.*\bmy age\b/i, /^age$/],
  ],
  others:
    /^(?:s?he|they|it|you|somebody|someone|everyone|the hero(?:ine)?|(?:my|our|his|her|their) (?:wife|husband|partner|girlfriend|boyfriend|ex|brother|sister|son|daughter|mother|mum|mom|father|dad|parents|friend|neighbou?r|colleague|uncle|aunt|cousin))(?![\p{L}])/iu,
  notStated:
    /\b(?:if|unless|suppose|imagine|pretend|would|could|might|maybe|perhaps|wish|hope|hoping|wonder|wondering|guess|should|said|says|asked|told me|wrote|for example|e\.g\.|as if|in (?:my|the|this) (?:story|novel|game|dream|essay|poem))\b|^(?:tell|help|show|explain|write|translate|summari[sz]e|find|let|give|make|can|could|do|does|did|is|are|what|who|where|when|why|how)\b/i,
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
