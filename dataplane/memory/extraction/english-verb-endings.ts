import type { EndingLanguage } from './ended-values.ts';

const things =
  /^(?:car|has|uses|my: (?:car|bike|bicycl|boat|phone|mobil|laptop|comput|hous|flat|apart|motorbik|motorcycl|guitar|piano|dog|cat|pet|hors|rabbit|hamster|parrot))/;
const partners = /^(?:name of|my|has): (?:girlfriend|boyfriend|wife|husband|partner|fianc|spous)/;
const partnersOrWork = new RegExp(`${partners.source}|^employer$`);
const pets =
  /^(?:name of|my|has): (?:dog|cat|pet|puppi|kitten|parrot|hors|hamster|rabbit|bird|fish|budgi|tortois|turtl|guinea|snake|lizard|poni|chicken|hen)/;
const plans =
  /^(?:wedding|appointment|plan|goal|learning|studies|my: (?:wed|exam|flight|appoint|trip|surgeri|holiday|goal|plan|hobb))/;
const consumed = /^(?:taste|favourite|preference|drinks|eats|diet|medicine|smoking|habit)/;
const services =
  /^(?:uses|activity|habit|learning|taste|my: (?:bank|gym|provid|insur|phone|mobil|broadband|newspap|subscript))/;
const bosses = /^(?:my|name of): (?:boss|manag|colleagu|teacher|doctor|gp|dentist|landlord|trainer|coach|therapist)/;
const best = /^(?:favourite|preference|my: favourit)/;

/** Verbs for the end of what a person has, does or takes, in the form that follows "to". */
const endVerbs =
  'sell|donate|scrap|rehome|return|get rid of|part with|hand back|drop|quit|stop|abandon|cancel|leave|give up(?: on)?|cut out|close|swap|ditch|bin|say goodbye to';
/** Nouns that say what of a value has ended: "the Spanish course", "my HSBC account". */
const parts =
  '(?:account|subscription|membership|contract|plan|lessons|classes|course|training|sessions|habit|idea|thing|project|diet|dream|career|degree|studies|licen[cs]e)';

const relatives =
  '(?:nephew|niece|brother|sister|son|daughter|cousin|mother|mum|mom|father|dad|parents|friend|neighbou?r|kids|uncle|aunt|colleague|grandson|granddaughter)';

/** Phrases for an end, made of verbs and of what they can act upon. */
export const englishVerbEndings: EndingLanguage['endings'] = [
  { before: `(?:had|decided|chose|was forced|were forced|was told|was made) to (?:${endVerbs})`, canPass: true },
  {
    before: '(?:had|decided|chose|was forced|were forced) to (?:give|put|send)',
    after: '(?:away|down|back|up|to sleep)',
    topics: things,
  },
  {
    before:
      'donated|scrapped|rehomed|junked|binned|pawned|wrote off|totall?ed|wrecked|auctioned(?: off)?|sent back|found (?:an? )?(?:new|good) (?:home|owner)s? for',
    topics: things,
  },
  {
    before: "came off|got off|(?:been )?weaned off|tapered off|(?:am|'m|been) off|stopped taking|stopped using",
    topics: consumed,
    canPass: true,
  },
  {
    before:
      'split (?:up )?(?:with|from)|separated from|dumped|ended (?:it|things) with|cut ties with|parted (?:ways|company) with|(?:am|was) dumped by|broken up with',
    topics: partnersOrWork,
  },
  {
    before: '',
    after:
      "and (?:I|me)(?:'ve)? (?:are |have |had |just |finally |recently |no longer )*(?:(?:not )?together any ?more|together(?<=no longer together)|broken up|broke up|split up|split|separated|divorced|parted (?:ways|company)|(?:over|through|history)(?<= are (?:\\p{L}+ )?\\p{L}+))",
    topics: partnersOrWork,
    isAtEnd: true,
  },
  { before: '', after: 'and (?:I|me) (?:are not|are no longer) (?:together|a couple|an item)', topics: partners },
  {
    before: '',
    after:
      "(?:has |have |had |sadly |just |suddenly |recently )*(?:passed on|(?:flew|flown|ran|run|wandered) (?:off|away)(?= and (?:never|did(?:n't| not)))|never (?:came|made it) (?:back|home)(?=[\\s.!]*$|,)|(?:was |were |got |been )+(?:killed|euthani[sz]ed)|didn't make it(?=[\\s.!]*$|,)|found (?:an? )?new (?:home|owner|family)|has (?:an? )?new (?:home|owner|family)|had to be (?:given away|put down|put to sleep|rehomed|sold))",
    topics: pets,
  },
  {
    before: '(?:have |had )?(?:buried|lost)',
    after: 'to (?:cancer|old age|illness|kidney|a car|a stroke)',
    topics: pets,
  },
  { before: 'buried', topics: pets },
  {
    before: '',
    after:
      'died (?:of (?!laughter|boredom|thirst|hunger|embarrassment)|from |peacefully|in (?:his|her|its|their) sleep|at home|aged|on (?:christmas|new year|(?:mon|tues|wednes|thurs|fri|satur|sun)day))',
    topics: pets,
  },
  {
    before: '',
    after: `(?:has |have )?(?:went|gone|goes|now belongs|was (?:given|sold|passed on)|belongs) to (?:my|our|a) ${relatives}`,
    topics: things,
    isAtEnd: true,
  },
  {
    before: '',
    after:
      "(?:do|does)(?:n't| not) (?:bother|affect|trouble|hurt|harm|scare) me(?: any ?more| at all| now| these days)*",
    topics: /^(?:allergy|intolerance|fear|health)/,
    isAtEnd: true,
  },
  {
    before: '',
    after: 'no longer (?:bothers?|affects?|troubles?|hurts?|scares?) me',
    topics: /^(?:allergy|intolerance|fear|health)/,
  },
  {
    before:
      '(?:stopped|quit|gave up|given up) (?:seeing|going to|visiting|using|watching|taking|doing|attending|wearing|driving|riding|buying|reading|following|supporting|studying|learning|practising|practicing|playing)(?! [^,.;!?]{1,40} (?:at (?:\\d|noon|one|two|three|four|five|six|seven|eight|nine|ten|eleven|midnight)|last night|for (?:a|the)))',
    topics: /^(?!name|birthday|age|origin|residence)/,
    canPass: true,
  },
  {
    before: '(?:gave|have given)',
    after: 'a (?:rest|break) for good|the (?:boot|chop|push|elbow|sack)',
    topics: /^(?!name)/,
  },
  {
    before: '(?<=(?<!\\p{L})(?:me|us|I|we) [^.,!?]{1,40} to )replace',
    topics: /^(?:uses|car|my: (?:laptop|comput|phone|mobil|bike|car))/,
    isOfAnySubject: true,
  },
  { before: '(?:called|broke|put)', after: 'off', topics: plans },
  {
    before: "(?<=(?<!\\p{L})(?:I'm|I am|been) (?:now |finally |completely )?)off",
    topics: /^(?:medicine|smoking|drinks)/,
    canPass: true,
  },
  {
    before: '(?:only |just |now )*have (?:only |just )?(?:one|two|three|four|five|six|no|\\d)',
    after: 'now|left|any ?more',
    topics: /^has/,
    isAtEnd: true,
  },
  { before: 'let', after: `${parts} (?:lapse|expire|run out)`, topics: services },
  { before: 'let', after: '(?:lapse|expire|run out)', topics: services },
  {
    before: '',
    after: '(?:has |have )?(?:just |finally )?moved out',
    topics: /^(?:(?:my|name of): (?:roommat|flatmat|housemat)|household)/,
    isAtEnd: true,
  },
  { before: 'forget(?: about)?(?=[^.!?]*(?:instead|now)(?!\\p{L}))', topics: plans },
  {
    before: '',
    after: '(?:is|are) (?:perfectly |totally )?(?:fine|ok|okay|safe|no problem)(?<=allergic to.{0,60})',
    topics: /^(?:allergy|intolerance)/,
  },
  { before: '(?:took|taken|take) (?:me|us) off', topics: /^medicine/, isOfAnySubject: true },
  {
    before: 'cancelled|canceled|terminated|deactivated|unsubscribed from',
    topics: services,
  },
  {
    before: `(?:dropped out of|dropped|quit|gave up(?: on)?|left|closed|cancelled|canceled|ended|terminated|stopped|finished with|done with|abandoned|changed (?:my|our) minds? (?:about|on)|decided against|deleted|got rid of|(?:did not|didn't) renew|swapped|replaced|traded)`,
    after: `${parts}(?! (?:of|to|in) )`,
    topics: new RegExp(`${services.source}|${plans.source}`),
    canPass: true,
  },
  {
    before:
      'changed (?:my|our) minds? (?:about|on)|decided against|thought better of|backed out of|pulled out of|bailed on|scrapped|shelved',
    topics: plans,
  },
  {
    before: '',
    after:
      "(?:idea |trip |plan |project |thing |dream |holiday |wedding |visit |move )?(?:(?:is|are)(?:n't| not) (?:happening|going ahead|on)(?: any ?more| after all)?|won't happen|is on hold|are on hold|is (?:off|cancelled|canceled|dead))",
    topics: plans,
    isAtEnd: true,
  },
  {
    before: '(?:pushed|moved|put|brought)',
    after: 'back|forward',
    topics: /^(?:wedding|appointment|my: (?:wed|exam|flight|appoint|trip|surgeri|holiday))/,
  },
  { before: '(?:down to|up to) (?:just |only )?(?:one|two|three|four|five|\\d)', topics: /^has/ },
  {
    before: '',
    after: "(?:was|were)(?:n't| not) (?:for me|my thing)(?!, (?:it|they) )",
    topics: /^(?:activity|learning|studies|habit|taste|my: (?:hobb|sport))/,
    isAtEnd: true,
  },
  {
    before: '',
    after:
      "(?:I'm|I am) (?:done|finished|through|over) with (?:it|them|him|her|that)|(?:I )?(?:gave|have given) (?:it|them|that) up|(?:I )?(?:don't|do not) (?:do|drink|eat|play|use|like|support|have|own|take) (?:it|that|them) any ?more|(?:I )?(?:got rid of|stopped|quit|sold|cancelled) (?:it|them|that)|(?:it's |they're )?(?:not my (?:thing|taste|style|cup of tea)(?: any ?more)?|no longer my thing|over it|never again)",
    topics: /^(?!name|birthday|age|origin|residence|allergy)/,
    isAtEnd: true,
    isApart: true,
    canPass: true,
  },
  {
    before: 'no(?: more)?',
    after: 'for me (?:since|after|ever|from now on|these days|because of)',
    topics: /^(?!name|birthday|age|origin|residence)/,
    canPass: true,
  },
  {
    before: '',
    after:
      '(?:is|are) (?:now )?(?:(?:out|off|forbidden|banned|not allowed|taboo|a no-go)(?: for me| for good| now| these days)*(?=[\\s.!]*$|, (?:doctor|so|now|I|since|because|my))|off the (?:cards|list|menu|table))',
    topics: consumed,
    canPass: true,
  },
  {
    before: '',
    after:
      "(?:is|are|has been|have been) (?:gathering|collecting) dust|hasn't been (?:played|touched) (?:in|for) (?:years|ages|months)",
    topics: /^(?:activity|learning|habit|my: (?:hobb|instrument))/,
  },
  {
    before: '',
    after: '(?:was|were|has been|got) (?:overtaken|beaten|replaced|dethroned|topped|surpassed|eclipsed) by',
    topics: best,
  },
  {
    before: '(?:has |have )?(?:overtaken|overtook|beats?|replaced|dethroned|topped|tops|surpassed|eclipsed|trumps)',
    after: '(?:as (?:my|the) (?:new |all-time )?(?:favou?rite|number one|top)|for me now|now|these days)',
    topics: best,
    isOfAnySubject: true,
  },
  {
    before: '(?:prefer|like|love|enjoy|rate|pick|choose|take) (?:\\p{L}+ ){1,3}(?:to|over|above|more than|better than)',
    after: '(?:now|these days|nowadays|any ?day now)',
    topics: best,
    canPass: true,
  },
  {
    before:
      '(?:now|these days) (?:I )?(?:prefer|like|love|enjoy|rate|pick|choose) (?:\\p{L}+ ){1,3}(?:to|over|above|more than|better than)',
    topics: best,
    canPass: true,
  },
  {
    before: '',
    after:
      '(?:has |have )?(?:left|gone|moved on|(?:was |been |got )?promoted|quit|resigned|retired)(?=(?:,| and)(?: and| so)? (?:now )?(?:(?!I )(?-i:\\p{Lu})\\p{L}+|(?:my|our) (?:new )?\\p{L}+|I (?:now )?(?:report|answer|see|go))[^.!?]{2,60} (?:now|instead)(?!\\p{L}))',
    topics: bosses,
  },
  // The plural names the kind: "I've changed dentists"; the singular can be the one of another person.
  {
    before:
      '(?:changed|switched|swapped)(?= (?:banks|dentists|doctors|gps|therapists|trainers|coaches|hairdressers|landlords|gyms|schools|providers|insurers|phones|laptops|networks|teams)(?!\\p{L}))',
    topics:
      /^(?:my|name of): (?:bank|dentist|doctor|gp|therapist|trainer|coach|hairdress|landlord|gym|school|provid|insur|phone|laptop|network|team)/,
  },
];
