import type { Paraphrase, StatementForm } from './statement.ts';

const am = "(?:I['’]?m|I am)";
const roles =
  '(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|mother|mum|mom|father|dad|brother|sister|grandma|grandpa|grandmother|grandfather|grandson|granddaughter|uncle|aunt|cousin|niece|nephew|youngest|eldest|oldest|twin|friend|neighbou?r|colleague|flatmate|housemate|roommate|boss|manager|landlord|landlady|teacher|doctor|dentist|therapist|dog|cat|puppy|kitten|parrot|horse|hamster|rabbit|labrador|retriever|poodle|terrier|spaniel|collie|husky|beagle|dachshund|corgi|bulldog|tabby|pony|tortoise|budgie)';
const dayParts = '(?:mornings?|afternoons?|evenings?|nights?)';
/** Verbs of lasting activities. */
const pursuits =
  '(?:collect|breed|brew|garden|knit|sew|crochet|embroider|paint|sculpt|busk|skateboard|kayak|volunteer|foster|coach|referee|tutor|keep (?=bees|chickens|hens|goats|pigeons|ducks|sheep|horses|snakes)|write (?=(?:\\p{L}+ ){0,2}(?:novels?|poems?|poetry|songs?|fiction|plays|stories|blogs?|music))|grow (?=(?:my |our )?(?:own )?(?:vegetables|veg|tomatoes|roses|orchids|herbs|flowers|chillies|potatoes))|bake (?=(?:my |our )?(?:own )?(?:bread|cakes|sourdough)))';
const fields =
  '(?:IT|HR|PR|marketing|sales|finance|banking|insurance|construction|logistics|education|healthcare|medicine|nursing|engineering|advertising|publishing|hospitality|retail|tourism|real estate|law enforcement|the (?:army|navy|air force|police|civil service|military)|law|fashion|software|tech|agriculture|journalism|research|consulting|recruitment|security|catering)';
const fleetingFood =
  /^(?:it|that|this|them|anything|everything|much|now|today|yet|alone|there|here|out|all|more|you|your|the (?:file|files|code|button|settings?|config|database|server)|files?|code|questions?|trouble|problems?|people|time)\b/i;

/** Further statements of English speakers about themselves. */
export const englishFurtherStatements: readonly StatementForm[] = [
  {
    pattern: new RegExp(
      `^(?:my|our) (?:\\p{L}+ ){0,2}?(?<about>${roles}),? (?:is )?(?<value>(?-i:\\p{Lu})\\p{L}+(?:-\\p{L}+)?)(?:,? (?:who |and )?(?:is|was|has|had|just|lives?|works?|turned|turns|starts?|started|loves?|likes|hates|sleeps|wants|needs|goes|plays|studies|came|got|will|can)\\b.*)$`,
      'iu',
    ),
    topic: 'name of',
    except: /^(?:who|that|which|always|never|also|and|just|really)$/i,
  },
  {
    pattern: new RegExp(
      `^(?:my|our) (?<about>${roles} (?:wants|plans|hopes|is (?:studying|training|learning|learning to|working|living|allergic)|goes|used to|started|speaks?|collects|plays?|teaches|runs|owns|drives)) (?<value>.+)$`,
      'iu',
    ),
    topic: 'my',
  },
  {
    pattern: new RegExp(
      `^(?:most|some) (?:${dayParts}|days|weekends|weeks|\\p{L}+days),? I(?:'m| am)? (?!(?:feel|know|think|wonder|wish|just)\\b)(?<value>.+)$`,
      'iu',
    ),
    topic: 'habit',
    isOpen: true,
  },
  {
    pattern: new RegExp(
      `^(?:on )?\\p{L}+days?(?: ${dayParts})? (?:(?:I've got|I have|is|are|means|I'm at|I go to) )(?:my |our |always )*(?<value>(?:choir|yoga|pilates|football|tennis|swimming|training|practice|rehearsal|band|bridge|chess|dance|dancing|therapy|church|gym|the gym|class|lessons?|\\p{L}+ (?:class|club|lessons?|practice|training|night))(?: .+)?)$`,
      'iu',
    ),
    topic: 'habit',
    isOpen: true,
  },
  {
    pattern: new RegExp(`^I ${pursuits}(?: (?:at|for|with|in))? ?(?<value>.+)$`, 'iu'),
    topic: 'activity',
    isOpen: true,
    except:
      /^(?:it|that|this|them|these|those|the (?:data|results?|logs?|answers?|input|files?)|my thoughts|everything)\b/i,
  },
  {
    pattern:
      /^I spend (?:most of |all |all of |a lot of |much of )?(?:my|the) (?:spare time|free time|weekends?|evenings?|sundays?|saturdays?|summers?|winters?|holidays?|days) (?:on |at |in )?(?<value>.+)$/iu,
    topic: 'activity',
    isOpen: true,
  },
  {
    pattern: new RegExp(
      `^${am} (?:an? )?(?:keen|avid|amateur|hobby|passionate|enthusiastic|semi-professional|competitive|weekend|lifelong|part-time|budding) (?<value>.+)$`,
      'iu',
    ),
    topic: 'activity',
    isOpen: true,
  },
  {
    pattern: /^I (?:teach|lecture(?: in)?|coach) (?<value>(?!you|them|him|her|it|this|that|myself)\p{L}+(?: .+)?)$/iu,
    topic: 'job',
  },
  { pattern: new RegExp(`^(?:${am}|I work|I've worked) in (?<value>${fields})(?:,? .*)?$`, 'iu'), topic: 'job' },
  {
    pattern: /^I (?<value>(?!do|make|want|need|have|am|earn)\p{L}+ (?:\p{L}+ ){0,4})for a living$/iu,
    topic: 'job',
    except: /^(?:don't|can't|know|think|guess)\b/i,
  },
  {
    pattern:
      /^I do (?:the )?(?<value>(?:accounts|books|bookkeeping|payroll|marketing|admin|it support|cleaning|catering|design|accounting|hr) (?:for|at) .+)$/iu,
    topic: 'job',
  },
  {
    pattern: new RegExp(
      `^${am} (?:the |an? )?(?<value>(?:treasurer|secretary|chair|chairman|chairwoman|captain|president|head|founder|co-founder|owner|director|trustee|organi[sz]er|conductor|warden|deacon|governor) of .+)$`,
      'iu',
    ),
    topic: 'job',
    except: /^\p{L}+ of (?:this|that|it|course)\b/iu,
  },
  {
    pattern:
      /^I(?:'ve| have)? (?:was|were|got|been|am being) (?<value>(?:made redundant|laid off|promoted|let go|fired|sacked|transferred|seconded)(?: .+)?)$/iu,
    topic: 'employment',
  },
  {
    pattern:
      /^(?:(?:my|our) (?:\p{L}+) and I|we|I) (?<value>(?:got engaged|got married|separated|eloped|adopted|are engaged|are getting divorced)(?: .+)?)$/iu,
    topic: 'marital status',
    except: /^adopted (?:a new|the|this|an?) (?:approach|policy|style|process|standard|framework)/i,
  },
  {
    pattern: new RegExp(`^(?:my|our) (?<about>${roles}) (?:passed away|died)(?<value>.*)$`, 'iu'),
    topic: 'death of',
  },
  {
    pattern: new RegExp(
      `^${am} (?:a )?single (?:dad|mum|mom|mother|father|parent)(?: (?:of|to|with) (?<value>.+))?$`,
      'iu',
    ),
    topic: 'children',
  },
  { pattern: /^(?:I|we)(?: are| am|'re|'m) a (?:family|household|couple) of (?<value>\p{L}+|\d+)$/iu, topic: 'family' },
  {
    pattern: new RegExp(`^${am} (?:half|part|a quarter|ethnically) (?<value>(?-i:\\p{Lu})\\p{L}+)(?:,? .*)?$`, 'iu'),
    topic: 'origin of family',
    isOpen: true,
  },
  {
    pattern:
      /^my (?:family|parents|roots|ancestors|people) (?:is|are|come|comes|came) (?:originally )?(?:from|in) (?<value>.+)$/iu,
    topic: 'origin of family',
  },
  {
    pattern:
      /^I spent (?:my|all my|most of my) (?:childhood|youth|teens|twenties|thirties|early years|student years) (?:in|on|at|near) (?<value>.+)$/iu,
    topic: 'lived',
    isOpen: true,
  },
  {
    pattern: /^I used to (?:be|work as|live in|play|own|have) (?:an? |the )?(?<value>.+)$/iu,
    topic: 'formerly',
    isOpen: true,
    except: /^(?:able|so|more|fun|like|easier|better|problem|issue|time|good|great|it|that|this)\b/i,
  },
  {
    pattern:
      /^I (?:can['’]?t|cannot|can not|must not|do not|don['’]?t|never) (?:have|touch|tolerate|digest) (?:any )?(?<value>\p{L}+(?: \p{L}+){0,2})$/iu,
    topic: 'eats',
    isOpen: true,
    isNegative: true,
    except:
      /^(?:it|that|this|them|any|anything|much|a|an|the|my|your|time|to|enough|access|idea|plans?|money|problems?|questions?|issues?|more|many|one|anyone|kids|children|pets|siblings|him|her|you)\b/i,
  },
  {
    pattern:
      /^(?:I (?:avoid|react (?:badly )?to|steer clear of|stay off|stay away from|am intolerant to|cut out)) (?<value>\p{L}+(?: \p{L}+){0,2})$/iu,
    topic: 'eats',
    isOpen: true,
    isNegative: true,
    except: fleetingFood,
  },
  {
    pattern: /^(?<value>\p{L}+(?: \p{L}+){0,2}) (?:does not|do not|doesn't|don't) agree with me$/iu,
    topic: 'eats',
    isOpen: true,
    isNegative: true,
    except: /^(?:it|that|this|he|she|they|you|which|what|people)\b/i,
  },
  {
    pattern: /^(?<value>\p{L}+(?: \p{L}+){0,2}) (?:makes?|gives?) me (?:ill|sick|hives|a rash|a migraine|migraines)$/iu,
    topic: 'eats',
    isOpen: true,
    isNegative: true,
    except: /^(?:it|that|this|he|she|they|you|which|what|people)\b/i,
  },
  {
    pattern: new RegExp(
      `^(?:${am} on|I take|I use|I inject) (?<value>(?:\\d+ ?mg (?:of )?)?(?:\\p{L}+ ){1,3}(?:once|twice|three times|every|each|daily|at night|for my)\\b.*)$`,
      'iu',
    ),
    topic: 'medicine',
    isOpen: true,
    except: /^(?:it|that|this|the (?:bus|train|tube|tram|metro|same)|call|leave|time|my|a)\b/i,
  },
  {
    pattern: new RegExp(
      `^${am} (?<value>(?:colou?r[ -]?blind|c(?:o?)eliac|(?:lactose|gluten)[- ]intolerant|anaemic|anemic|deaf in .+|blind in .+))(?:,? .*)?$`,
      'iu',
    ),
    topic: 'trait',
    isOpen: true,
  },
  {
    pattern: new RegExp(
      `^${am} (?:an? )?(?:practising |practicing |devout |lapsed |proud )?(?<value>quaker|baptist|methodist|lutheran|orthodox|protestant|mormon|pagan|humanist|feminist|pacifist|anarchist|socialist|conservative|republican|democrat|green|stoic|vegan|pensioner|orphan|veteran|refugee|expat|immigrant|carer|caregiver|stay-at-home (?:mum|mom|dad|parent|mother|father))$`,
      'iu',
    ),
    topic: 'trait',
    isOpen: true,
  },
  {
    pattern:
      /^I(?:'d rather| would rather| like) (?:have |drink |eat |use )?(?<value>\p{L}+(?: \p{L}+)?) (?:than|over|more than|better than) (?:.+)$/iu,
    topic: 'preference',
    isOpen: true,
    except: fleetingFood,
  },
  {
    pattern: /^nothing (?:beats|compares to|is better than) (?:a |an |the |good |hot |cold |fresh )*(?<about>.+)$/iu,
    topic: 'taste',
    except: /^(?:that|this|it|being|getting|you)\b/i,
  },
  {
    pattern: new RegExp(
      `^${am} (?:really |quite |totally |absolutely |completely |so )?(?:keen on|big on|mad about|crazy about|nuts about|obsessed with|passionate about|hooked on|addicted to|partial to) (?<about>.+)$`,
      'iu',
    ),
    topic: 'taste',
    except: /^(?:it|that|this|you|your|the (?:idea|plan|details?))\b/i,
  },
  {
    pattern: new RegExp(`^${am} (?:in )?training (?:for|to be(?:come)?) (?:an? |the |my )?(?<value>.+)$`, 'iu'),
    topic: 'goal',
    isOpen: true,
  },
  {
    pattern: new RegExp(`^${am} (?:moving|emigrating|relocating|retiring) to (?<value>(?-i:\\p{Lu})\\p{L}+.*)$`, 'iu'),
    topic: 'plan',
    isOpen: true,
  },
  {
    pattern:
      /^I (?<value>(?:take|catch|get) the (?:\p{L}+ )?(?:tram|bus|train|tube|metro|subway|ferry|underground)|cycle|bike|walk|drive|commute)(?: in)? to (?:work|the office|school|uni|university|college)(?:,? .*)?$/iu,
    topic: 'commute',
  },
  {
    pattern:
      /^I've got (?<value>(?:\p{L}+ ){0,2}(?:asthma|diabetes|epilepsy|arthritis|eczema|psoriasis|migraines?|tinnitus|adhd|dyslexia|autism|insomnia|anxiety|depression|vertigo|sciatica|hay fever))(?:,? .*)?$/iu,
    topic: 'health',
    isOpen: true,
  },
  {
    pattern: /^I (?:have a (?:phobia|fear) of|panic (?:around|near)) (?<value>.+)$/iu,
    topic: 'fear',
    isOpen: true,
  },
  {
    pattern:
      /^I (?:gave up|quit|stopped|haven't (?:touched|had|smoked|drunk)|have not (?:touched|had|smoked|drunk)) (?:drinking |eating )?(?<value>(?:alcohol|drinking|smoking|meat|sugar|coffee|caffeine|gambling|gluten|dairy|cigarettes|social media|booze))\b.*$/iu,
    topic: 'gave up',
    isOpen: true,
  },
];

/** Statements with another word order or with omissions, each with the clause that replaces it before reading. */
export const englishParaphrases: readonly Paraphrase[] = [
  // Words before the subject state a time or a place, as they may at the end.
  [
    /^(?:for work|at work|at home|by day|in my (?:spare|free) time|at (?:the )?weekends?|back (?:in \d{4}|then)|as a (?:kid|child|teenager|student)|for (?:about |over |almost |nearly )?(?:\d+|\p{L}+) (?:years|months)(?: now)?|since (?:last )?(?:\p{L}+ )?(?:\d{4}|\p{L}+)|originally|professionally|personally|for a living|growing up|in (?:winter|summer|spring|autumn|january|february|march|april|may|june|july|august|september|october|november|december)),? (?=(?:I|I'm|I've|my|we|our)(?![\p{L}]))/iu,
    '',
  ],
  [/^I(?:'m| am) the one who /i, 'I '],
  [/^I(?:'ve| have) never /i, 'I never '],
  // A state that has lasted until now is a present state.
  [/^I(?:'ve| have) (?=(?:played|owned|loved|hated|collected|coached|supported|volunteered|lived) )/i, 'I have been '],
  [/^I have been (?:played|playing) /i, 'I play '],
  [/^I have been (?:owned|owning) /i, 'I own '],
  [/^I have been (?:loved|loving) /i, 'I love '],
  [/^I have been (?:hated|hating) /i, 'I hate '],
  [/^I have been (?:collected|collecting) /i, 'I collect '],
  [/^I have been (?:coached|coaching) /i, 'I coach '],
  [/^I have been (?:supported|supporting) /i, 'I support '],
  [/^I have been (?:volunteered|volunteering) /i, 'I volunteer '],
  [/^I have been (?:lived|living) /i, 'I live '],
  [/^my birthday (?:falls|lands|comes) on /i, 'my birthday is '],
  [/^I(?:'m| am) (left|right) handed/i, "I'm $1-handed"],
  [/^I(?:'ve got| have got| got) (?=an? |two |three |four |one |no )/i, 'I have '],
  [/^I(?:'ve| have) been (?:working )?(?:with|at|for) (?=\p{Lu})/u, 'I work at '],
  [/^I (?:mostly |mainly |usually |primarily |only )(?=\p{L}+ )/iu, 'I '],
  [/^I(?:'m| am) (?:happily |newly |recently |finally |proudly |originally |half-heartedly )/i, "I'm "],
  // "We" includes the speaker.
  [/^we(?:'re| are) (?=living|based|moving|married|engaged|from|vegan|vegetarian|expecting)/i, "I'm "],
  [/^we(?:'ve| have) (?=got |had |lived |been )/i, "I've "],
  [/^we (?=(?:live|own|rent|have|keep|speak|love|hate|eat|moved|bought|adopted|drive)(?![\p{L}]))/iu, 'I '],
  [
    new RegExp(
      `^our (?=(?:\\p{L}+ ){0,2}(?:${roles}|family|home|house|flat|apartment|car|wedding|anniversary|address|garden|hometown)(?![\\p{L}]))`,
      'iu',
    ),
    'my ',
  ],
  // Messages leave out the subject.
  [
    /^(?=(?:allergic to|based in|originally from|living in|working (?:as an?|at|for) (?!me|now|us|everyone)|studying (?!the|this|it)|learning (?:to|the \p{L}+$|\p{Lu})|retired|divorced|happily married|married|terrified of|scared of)(?![\p{L}]))/u,
    "I'm ",
  ],
  [
    /^(?=(?:moved (?:to|from)|grew up|got married|was born|born in|used to (?:live|work|be|play|smoke)|turned \d|can't stand|hate \p{L}+ing|love \p{L}+ing|started (?:learning|working|playing)|graduated|work nights|work from home|don't (?:eat|drink|smoke|drive)|never (?:eat|drink|learned))(?![\p{L}]))/iu,
    'I ',
  ],
  [/^I born /i, 'I was born '],
  [/^I was born and (?:raised|bred) /i, 'I grew up '],
  [/^I(?:'m| am) (?:born|raised) (?=in )/i, 'I was raised '],
  // Sentences whose subject is the name, the home or the like.
  [
    /^(?:everyone|everybody|people|friends|my friends|most people|they all|colleagues) (?:just )?(?:calls?|knows?) me (?:as )?/i,
    'call me ',
  ],
  [/^(?:the name's|name's|name is|I answer to|I go by(?: the name)?) /i, 'my name is '],
  [
    /^(?:these days |now )?home is (?!where |the |what |so |not |best |far )(?:an? .+ (?:in|near|outside) |in |near )?/i,
    'I live in ',
  ],
  [/^I call (?=.+ home$)/i, 'my home is '],
  [/^(?=\p{L}[\p{L} -]{1,40} is where I (?:live|was born|grew up))/iu, 'my home is '],
  [/^(?:my|our) (?=(?:mother tongue|first language|native tongue) is)/i, 'my '],
  [/^started (?:learning|on) /i, "I'm learning "],
  [/^I (?:just |recently )?(?:started|took up|began|am taking up) (?:learning )?/i, "I'm learning "],
];
