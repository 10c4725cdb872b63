import type { StatementForm } from './statement.ts';

const am = "(?:I['’]?m|I am)";
const kin =
  '(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|sons|daughter|daughters|kids|children|twins|mother|mum|mom|father|dad|parents|brother|brothers|sister|sisters|grandma|grandpa|grandmother|grandfather|grandparents|grandson|granddaughter|uncle|aunt|cousin|cousins|in-laws)';
const pets = '(?:dog|cat|puppy|kitten|parrot|horse|hamster|rabbit)';
const breeds =
  '(?:retriever|labrador|poodle|terrier|spaniel|collie|husky|beagle|dachshund|corgi|bulldog|sheepdog|greyhound|dalmatian|tabby|siamese|pony|tortoise|budgie|canary|chickens|bees|goats|sheep)';
const number =
  '(?:\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen)';
const places =
  '(?:bakery|shop|store|bookshop|caf[eé]|restaurant|pub|farm|business|company|studio|salon|gym|hotel|hostel|agency|startup|clinic|garage|workshop|school|team|department|nursery|brewery|vineyard)';
const instruments =
  '(?:piano|guitar|violin|cello|flute|drums|trumpet|banjo|harp|saxophone|clarinet|accordion|ukulele|organ|viola|bass|oboe|trombone|mandolin|chess)';
const abilities = `(?:swim|drive|cook|dance|sing|ski|whistle|juggle|sew|knit|skate|surf|ride (?:a bike|a bicycle|a horse|horses)|read music|play (?:the )?${instruments}|speak \\p{Lu}\\p{L}+)`;
const living = "(?:I (?:still |now |currently )*live|I['’]?m (?:still |now |currently )*living)";
const afterCompanions = '(?:in|at|near|outside|on|for|since|until)';
const word = "[\\p{L}\\p{N}][\\p{L}\\p{N}'’-]*";
/** A space always precedes a word, so that a text matches in one way only and the time is linear. */
const companions = `(?:both )?(?:my|our|two|three|some) ${word}(?: (?!${afterCompanions}(?![\\p{L}]))${word})*`;

/** Statements of English speakers about their households, bodies, abilities and days. */
export const englishPersonStatements: readonly StatementForm[] = [
  {
    pattern: new RegExp(
      `^(?:my|our) (?<about>${kin} (?:lives?|works?|stud(?:y|ies)|speaks?|plays?|teach(?:es)?)) (?<value>.+)$`,
      'iu',
    ),
    topic: 'my',
  },
  {
    pattern: new RegExp(
      `^(?:my|our) (?<about>${kin}|${pets}) (?:is|are|(?:has |have )?(?:just )?turned) (?:now |already |almost )?(?<value>${number})(?: (?:years?|months?|weeks?) old)?$`,
      'iu',
    ),
    topic: 'age of',
  },
  {
    pattern: new RegExp(
      `^(?:I|we)(?: have|['’]ve got| have got| keep| own| adopted) (?:an? |two |three |four |some |\\d+ )(?<value>(?:\\p{L}+ ){0,2}${breeds})(?:,? .*)?$`,
      'iu',
    ),
    topic: 'has',
    isOpen: true,
  },
  {
    pattern: /^I (?:can['’]?t|cannot|can not|never|may not) eat (?<value>\p{L}+(?: \p{L}+){0,2})$/iu,
    topic: 'eats',
    isOpen: true,
    isNegative: true,
    except: /^(?:it|that|this|them|anything|any ?more|much|now|today|yet|alone|there|here|out|all|more)\b/i,
  },
  {
    pattern: /^I (?:can['’]?t|cannot|can not|never) drink (?<value>\p{L}+(?: \p{L}+){0,2})$/iu,
    topic: 'drinks',
    isOpen: true,
    isNegative: true,
    except: /^(?:it|that|this|them|anything|any ?more|much|now|today|yet|alone|there|here|all|more)\b/i,
  },
  {
    pattern: /^I(?:['’]ve| have) (?:lived|been living) (?:here )?in (?<value>.+?)(?: (?:since|for|all) .+)?$/iu,
    topic: 'residence',
    except: /^(?:fear|hope|peace|the past|a bubble)\b/i,
  },
  {
    pattern:
      /^(?:I|we) (?:rent|are renting|share) (?:an? |my |our |the )?(?:\p{L}+ ){0,2}(?:room|flat|apartment|house|studio|place|cottage) (?:in|near) (?<value>.+)$/iu,
    topic: 'residence',
  },
  {
    pattern: new RegExp(
      `^(?:I|we) (?:run|manage|lead|founded|started) (?:an? |my own |our own )(?:\\p{L}+ ){0,3}?(?<value>${places}(?: .+)?)$`,
      'iu',
    ),
    topic: 'runs',
    isOpen: true,
  },
  {
    pattern: new RegExp(
      `^${am} (?:an? )?(?<value>night owl|early bird|diabetic|asthmatic|dyslexic|autistic|bilingual|deaf|short-sighted|near-sighted|far-sighted|bookworm|homebody|minimalist|atheist|agnostic|buddhist|christian|catholic|muslim|hindu|jewish|sikh|night person)$`,
      'iu',
    ),
    topic: 'trait',
    isOpen: true,
  },
  {
    pattern:
      /^I (?:wear|use|need) (?:an? )?(?<value>contact lenses|contacts|reading glasses|glasses|hearing aids?|braces|dentures|pacemaker|prosthesis|wheelchair|cane|crutches|walker|inhaler|size \d+.*)$/iu,
    topic: 'trait',
    isOpen: true,
  },
  {
    pattern:
      /^I(?: have|['’]ve got| have got) (?<value>(?:high|low) (?:cholesterol|blood pressure|blood sugar|iron)|(?:an? )?(?:bad|weak) (?:knees?|back|eyesight|hip|hips|heart|stomach|eyes)|an? (?:heart|thyroid|kidney) (?:condition|problem|disease)|an? pacemaker)$/iu,
    topic: 'health',
    isOpen: true,
  },
  {
    pattern:
      /^(?:I['’]?m|I am) on (?<value>(?:blood thinners|antidepressants|insulin|medication|statins|the pill|antibiotics|beta blockers|an? \p{L}+(?:-\p{L}+)? diet)(?: .+)?)$/iu,
    topic: 'medicine',
    isOpen: true,
  },
  {
    pattern: /^(?<value>\p{L}[\p{L} -]{1,40}) is (?:my |our )(?:new )?home$/iu,
    topic: 'residence',
    except: /^(?:it|this|that|he|she|everyone|everybody|nobody|who|what|there)\b/i,
  },
  {
    pattern: /^my favou?rite (?<about>[\p{L} -]{2,40}?) (?:has |have )?(?:changed|switched) to (?<value>.+)$/iu,
    topic: 'favourite',
  },
  { pattern: new RegExp(`^I (?:can|know how to) (?<value>${abilities})$`, 'u'), topic: 'ability', isOpen: true },
  {
    pattern: new RegExp(
      `^I (?:can['’]?t|cannot|can not|(?:do not|don['’]t) know how to|never learn(?:ed|t)(?: how)? to) (?<value>${abilities})$`,
      'u',
    ),
    topic: 'ability',
    isOpen: true,
    isNegative: true,
  },
  {
    pattern: /^I (?:sing|dance|act|perform) (?:in|with) (?:an?|the|my|our) (?<value>.+)$/iu,
    topic: 'activity',
    isOpen: true,
    except: /^(?:shower|bath|car|rain|dark|way|end)\b/i,
  },
  {
    pattern: new RegExp(
      `^I (?:usually |always |normally |mostly )?(?<about>get up|wake up|go to bed|go to sleep) (?:at|around|about|before|after) (?<value>(?:half past |quarter to |quarter past )?(?:${number}|noon|midnight|dawn|sunrise)(?:[:.]\\d\\d)?(?: .*)?)$`,
      'iu',
    ),
    topic: 'routine',
  },
  {
    pattern:
      /^I work (?:mostly |mainly |usually |only )?(?<value>(?:nights?|days|weekends|shifts|night shifts|remotely|freelance|part[- ]time|full[- ]time|from home)(?: .+)?)$/iu,
    topic: 'way of work',
  },
  {
    pattern: new RegExp(
      `^${am} (?:now )?the (?<value>(?:head|director|manager|owner|founder|co-founder|captain|president|treasurer|editor|principal|chair) (?:of|at) .+)$`,
      'iu',
    ),
    topic: 'job',
  },
  {
    pattern: new RegExp(
      `^${am} in (?:my|the) (?<value>(?:first|second|third|fourth|fifth|sixth|final|last) year (?:of|at) .+)$`,
      'iu',
    ),
    topic: 'studies',
  },
  {
    pattern: /^I (?:know|understand) (?:some|a little|a bit of|basic) (?<value>\p{Lu}\p{Ll}+)$/u,
    topic: 'language',
    isOpen: true,
  },
  { pattern: /^I (?:support|root for) (?<value>\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)$/u, topic: 'supports', isOpen: true },
  {
    pattern: /^(?:I['’]?m|I am|we['’]?re|we are) saving (?:up )?(?:money )?for (?<value>(?:an?|our|my|the) .+)$/iu,
    topic: 'plan',
    isOpen: true,
    except: /^the (?:file|end|rest|last|future)\b/i,
  },
  { pattern: /^I want to (?:move|emigrate) to (?<value>\p{Lu}\p{L}+.*)$/u, topic: 'goal', isOpen: true },
  { pattern: /^(?:we['’]?re|we are) getting married(?<value>(?: .*)?)$/iu, topic: 'wedding' },
  {
    pattern:
      /^(?:I['’]?m|I am|we['’]?re|we are) expecting (?<value>(?:an? |our |my )?(?:(?:first|second|third|baby) )?(?:baby|child|twins|triplets|boy|girl|grandchild)(?: .+)?)$/iu,
    topic: 'expecting',
  },
  { pattern: /^I(?:['’]ll)? turn (?<value>\d{1,3}(?: (?:in|on|next|this) .+))$/iu, topic: 'next birthday' },
  {
    pattern:
      /^I grew up (?<value>(?:on an? (?:farm|ranch|island|boat|estate)|near|with|without|bilingual|in care)(?: .+)?)$/iu,
    topic: 'childhood',
    isOpen: true,
  },
  { pattern: /^I (?:moved|came) here from (?<value>\p{Lu}\p{L}+.*)$/u, topic: 'came from' },
  { pattern: /^I live (?<value>alone|by myself|on my own)(?:,? .*)?$/iu, topic: 'household' },
  {
    pattern: new RegExp(`^${living} with ${companions} (?:in|near|outside) (?<value>.+)$`, 'iu'),
    topic: 'residence',
    except: /^(?:the (?:summer|winter|meantime)|summer|winter|spring|autumn|peace|harmony|general|turns?)(?!\p{L})/iu,
  },
  {
    pattern: new RegExp(`^${living} with (?<value>${companions})(?: ${afterCompanions} .*)?$`, 'iu'),
    topic: 'household',
  },
  {
    pattern:
      /^(?:I['’]?m|I am|we['’]?re|we are) (?:staying|settling(?: down)?|remaining) in (?<value>\p{Lu}[\p{L} -]*?) (?:for good|permanently|for ever|forever)$/u,
    topic: 'residence',
  },
  {
    pattern: new RegExp(
      `^${am} (?:about |almost |only )?(?<value>\\d[\\d.,]*(?: ?(?:cm|m|met(?:re|er)s|centimet(?:re|er)s)|(?: ?(?:feet|foot|ft)(?: \\d{1,2})?))) tall$`,
      'iu',
    ),
    topic: 'height',
  },
  {
    pattern:
      /^I(?: have|['’]ve got) (?<value>(?:(?:long|short|curly|straight|red|blond|blonde|brown|black|grey|gray|dark|fair|thick|thin|wavy) )+hair|(?:blue|green|brown|grey|gray|hazel|dark) eyes|freckles|an? beard)$/iu,
    topic: 'trait',
    isOpen: true,
  },
  { pattern: /^I(?:['’]m| am) using (?<value>\p{Lu}\p{L}+(?: .+)?)$/u, topic: 'uses', isOpen: true },
];
