import { ofEnglishSpeaker } from './changed-things.ts';
import type { EndingLanguage } from './ended-values.ts';

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const work = /^(?:employer|job|studies)/;
const liked = /^(?:taste|favourite|preference|drinks|eats|activity|learning|habit|my: hobb)/;
const living = /^(?:my|has)/;

/** Words of English speakers about what holds no longer. */
export const englishEndings: EndingLanguage = {
  ofSpeaker: ofEnglishSpeaker,
  endings: [
    { before: 'no longer|no more|used to' },
    {
      before: "(?:do|does|did|am|is|are|was|'m|have|has)(?:n't| not)|don't|not|never",
      after: 'any ?more|any longer|after all',
    },
    {
      before:
        '(?:stopped|quit|gave up(?: on)?|given up(?: on)?|dropped|ditched|abandoned|went off|gone off|got rid of|replaced|swapped|traded(?: in)?|sold|(?:gave|threw|put) away|cut out)(?! (?:in|at|by|over|to|into|for|up|on|off|out) )',
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
    { before: 'left', after: 'for good|behind' },
    {
      before: 'left',
      after: 'for(?! (?:an?|the|my|our|some|work|home|lunch|dinner|good|now|today|tonight)(?!\\p{L}))',
      topics: /^(?:residence|employer|job)/,
    },
    { before: 'gave', after: 'up' },
    { before: 'put|gave|threw', after: 'away|aside|out' },
    { before: 'no', after: 'for me(?: any ?more)?|any ?more' },
    {
      before: '(?:switched|changed|moved|moved on|transferred|went|converted|upgraded|relocated|came) from',
      after: 'to|into|over',
    },
    {
      before: 'the|my|our|that',
      after: 'broke down|died|is gone|has gone|is history|was sold|was stolen|got stolen|went away|disappeared',
      topics: /^(?:car|has|my|uses|allergy|health|name of)/,
    },
    { before: '', after: '(?:has |have )?(?:let (?:me|us) go|fired (?:me|us)|laid (?:me|us) off)', topics: work },
    { before: '', after: 'died|passed away|ran away|is dead|is no longer with us', topics: living },
    { before: '', after: "(?:bores?|annoys?|disgusts?|sickens?) me|(?:is|are)(?:n't| not) for me", topics: liked },
    {
      before: '',
      after: 'is (?:history|in the past|behind (?:me|us)|gone)|was just a phase',
      topics: /^(?!origin|birthday|age)/,
    },
    {
      before: '',
      after: "(?:isn't|aren't|is not|are not|is no longer|are no longer) (?:my|our)(?: \\p{L}+){1,3} any ?more",
    },
    { before: '', after: '(?:is|are) no longer (?:my|our)' },
    { before: "instead of|rather than|not|i said|i wrote|i typed|isn't|wasn't", isWeak: true },
  ],
  boundary:
    "and|but|so|because|now|these|since|before|last|this|I|I'm|I've|it|it's|we|is|are|was|by|instead|either|just|anyway|for good|after|any|anymore|for|with|actually|sorry|up|behind",
  generic: wordsOf(
    'a an the my our that this to at in on as with of for from be being do doing does did work working live living learn learning study studying drink drinking eat eating like liking love loving prefer drive driving play playing practice practise practicing use using call called calling name allergic allergy smoke smoking speak speaking go going have having own job company old',
  ),
  inside: wordsOf(
    'in at on to into from of by over around near under through during until while when as ago years months weeks days yesterday today forever completely altogether entirely recently finally too either away',
  ),
  prepositions: 'in|at|on|to|for|with|from|by|of',
  almost: "almost|nearly|never|not|n't|about to|going to|want to|wanted to|tried to|try to|have to|plan to",
  present:
    /\b(?:now|these days|nowadays|from now on|actually|it(?:'s| is)|name|call|correction|sorry|meant|wrong|mistake|but)\b/i,
};
