import { englishFurtherStatements, englishParaphrases } from './english-further-statements.ts';
import { englishPersonStatements } from './english-person-statements.ts';
import { englishNonPlaces, englishProfessions, englishWords, fleeting, notNames, unsure } from './english-words.ts';
import type { StatementLanguage } from './statement.ts';

const am = "(?:I['’]?m|I am|I was|I['’]ve been|I have been)";
const now = '(?:now |currently |already |actually |recently |just |also |still |really |mostly |both )*';

/** Statements of English speakers about themselves. */
export const english: StatementLanguage = {
  ...englishWords,
  forms: [
    { pattern: /^my allergy is to (?<value>.+)$/i, topic: 'allergy', isOpen: true },
    {
      pattern: /^(?:you can )?call me (?<value>\p{L}[\p{L}'-]{1,30})(?:, .*)?$/iu,
      topic: 'name',
      except: notNames,
    },
    { pattern: /^I'm (?<value>\p{Lu}[\p{L}'-]{1,30}),? nice to meet you.*$/u, topic: 'name' },
    {
      pattern: /^I(?:'ve| have)? (?:legally |officially )?changed my name(?:.*?(?:to|it's|I'm) (?<value>\p{L}+).*)?$/iu,
      topic: 'name',
    },
    {
      pattern: /^I(?:'ve| have) been (?:living|based) (?:in|at|near) (?<value>.+?)(?: for .*| since .*)?$/i,
      topic: 'residence',
    },
    {
      pattern:
        /^(?:we|I)(?:'ve| have)? (?:got |rent |own |just moved to |moved to |live in |a )*(?:a |an )?(?:small |big |tiny |new )?(?:flat|apartment|house|place) in (?<value>.+)$/i,
      topic: 'residence',
    },
    {
      pattern: /^we (?:now )?(?:live|moved|relocated) (?:in|to|near) (?<value>.+)$/i,
      topic: 'residence',
      except: englishNonPlaces,
    },
    { pattern: /^it rains .* here in (?<value>\p{L}+), where I.*$/iu, topic: 'residence' },
    { pattern: /^my job at (?<value>.+?)(?: keeps| is| takes| has)\b.*$/i, topic: 'employer' },
    {
      pattern: /^I(?:'ve| have) been (?:working )?(?:at|with) (?<value>\p{Lu}.+?)(?: for .*| since .*)?$/u,
      topic: 'employer',
    },
    { pattern: /^I make a living as (?:an? )?(?<value>.+)$/i, topic: 'job' },
    { pattern: /^I'm (?:an? )?(?<value>.+?) by (?:trade|profession|training)$/i, topic: 'job' },
    { pattern: /^I(?:'ve| have) been working as (?:an? )?(?<value>.+?)(?: for .*| since .*)?$/i, topic: 'job' },
    { pattern: /^I'm getting married\b(?<value>.*)$/i, topic: 'wedding' },
    {
      pattern:
        /^(?:we|I)(?:'ve got| have| got| adopted) an? (?<about>dog|cat|puppy|kitten|parrot|horse|hamster|rabbit) (?:called|named) (?<value>.+)$/i,
      topic: 'my',
    },
    {
      pattern:
        /^(?:my|our) (?<about>dog|cat|puppy|kitten|parrot|horse|daughter|son|wife|husband|sister|brother|girlfriend|boyfriend|partner) (?<value>\p{L}+) (?:wakes|just|is|has|was|started|works|loves|likes|and)\b.*$/iu,
      topic: 'my',
      except: /^(?:who|that|always|never|often|just|really|also|is|has|was|still|now|and)$/i,
    },
    {
      pattern:
        /^(?:we|I)(?:'ve| have) got (?:two|three|four|\d+) (?<about>boys|girls|kids|children|sons|daughters|cats|dogs)(?<value>\b.*)$/i,
      topic: 'has',
    },
    {
      pattern: /^I own (?:an? |the )?(?:little |small |old |new |vintage )*(?<value>\p{L}.+)$/iu,
      topic: 'has',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern: /^I(?:'ve| have) been into (?<value>.+?)(?: for .*| since .*)?$/i,
      topic: 'activity',
      isOpen: true,
      except: fleeting,
    },
    { pattern: /^(?:my )?(?:main |favou?rite |biggest )?hobby is (?:now )?(?<value>.+)$/i, topic: 'my: hobbi' },
    { pattern: /^I'm a (?:huge|big|massive) (?<about>.+?) fan$/i, topic: 'taste', except: fleeting },
    {
      pattern: /^(?<value>\p{L}[\p{L} -]{1,40}) is my (?:all-time )?favou?rite (?<about>\p{L}+)$/iu,
      topic: 'favourite',
      except: /^(?:it|that|this|what|which|who|he|she|one)\b/i,
    },
    {
      pattern: /^I can(?:'t| not|not) start the day without (?:some |a |my )?(?<about>.+)$/i,
      topic: 'taste',
      except: fleeting,
    },
    {
      pattern: /^I could (?:honestly |happily )?eat (?<about>.+?) (?:every|all) .*$/i,
      topic: 'taste',
      except: fleeting,
    },
    { pattern: /^I did my degree in (?<value>.+?)(?: ages ago| \d+ years ago)?$/i, topic: 'degree' },
    { pattern: /^because of my (?<value>\p{L}+),? I have to .*$/iu, topic: 'health', isOpen: true },
    { pattern: /^I had an allergic reaction to (?<value>.+?) as a .*$/i, topic: 'allergy', isOpen: true },
    { pattern: /^we're moving to (?<value>.+)$/i, topic: 'plan', isOpen: true },
    { pattern: /^my birthday's in (?<value>.+)$/i, topic: 'birthday' },
    {
      pattern:
        /^my (?:new |old |current |main |first )*(?<about>(?!(?:question|problem|point|issue|guess|bad|day|code|idea|answer|fault|mistake|opinion|understanding|impression|advice|plan|task|goal|concern|internet|connection|mind|thought|head|suggestion|query|request|weekend|morning|evening|week|pleasure|name|favou?rite|text|essay|function|script|file|app|house|room)\b)\p{L}[\p{L}-]{2,20})(?:'s name)? (?:is (?:called|named|now)|is) (?<value>\p{L}.*)$/iu,
      topic: 'my',
      except:
        /^(?:not sure|(?:very |so |too |really )?(?:slow|broken|down|bad|good|great|fine|ok|okay|here|gone|late|weird|wrong|simple|easy|hard|killing|driving|acting|busy|sick|better|ready)\b)/i,
    },
    {
      pattern:
        /^(?:my name is|my name['’]s|call me|people call me|I am called|I['’]m called|I go by)\s+(?<value>\p{L}[\p{L}'’ -]{0,60})$/iu,
      topic: 'name',
      except: notNames,
    },
    { pattern: new RegExp(`^${am}\\s+${now}(?<value>\\d{1,3})(?: years? old)?$`, 'i'), topic: 'age' },
    { pattern: /^I (?:just |recently )?turned (?<value>\d{1,3})\b.*$/i, topic: 'age' },
    {
      pattern: /^(?:my birthday is|my birthday['’]s|I was born)\s+(?:on |in )?(?<value>(?:\p{L}+ \d|\d).*)$/iu,
      topic: 'birthday',
    },
    {
      pattern: new RegExp(
        `^I(?:['’]ve| have)?\\s+${now}(?:live|lived|reside|moved(?! on\\b)|relocated|settled(?: down)?)\\s+${now}(?:from .+? )?(?:in|at|near|to|into|on|outside|with(?! (?:my|our|both|two|three|some) ))\\s+(?<value>.+)$`,
        'i',
      ),
      topic: 'residence',
      except: englishNonPlaces,
    },
    {
      pattern: new RegExp(
        `^(?:${am}|we're|we are|we've been)\\s+${now}(?:living|based|located|staying|settled)\\s+(?:in|at|near|on|with(?! (?:my|our|both|two|three|some) ))\\s+(?<value>.+)$`,
        'i',
      ),
      topic: 'residence',
    },
    {
      pattern: /^my (?:home|home town|hometown|address|city) is\s+(?:now\s+)?(?:in\s+)?(?<value>.+)$/i,
      topic: 'residence',
    },
    {
      pattern: new RegExp(
        `^(?:${am} (?:originally )?from|I come from|I grew up in|I was raised in|I was born in)\\s+(?<value>\\p{L}.+)$`,
        'iu',
      ),
      topic: 'origin',
      except: /^(?:work|here|there)\b/i,
    },
    {
      pattern: new RegExp(
        `^I(?:['’]ve| have)?\\s+${now}(?:work(?:ed)? (?:at|for)|joined|started (?:working )?(?:at|for|with)|(?:got|took|found|have) a (?:new )?job (?:at|with|in))\\s+(?<value>.+)$`,
        'i',
      ),
      topic: 'employer',
      except: fleeting,
    },
    {
      pattern: new RegExp(`^${am}\\s+${now}(?:working (?:at|for)|employed (?:at|by|with))\\s+(?<value>.+)$`, 'i'),
      topic: 'employer',
      except: fleeting,
    },
    { pattern: /^my (?:employer|company|workplace) is\s+(?:now\s+)?(?<value>.+)$/i, topic: 'employer' },
    {
      pattern: new RegExp(
        `^I(?:['’]ve| have)?\\s+${now}(?:work(?:ed)? as|became|was promoted to|got promoted to)\\s+(?:an? |the )?(?<value>.+)$`,
        'i',
      ),
      topic: 'job',
      except: /^(?:aware|interested|ill|sick|tired)\b/i,
    },
    {
      pattern: new RegExp(`^${am}\\s+${now}(?:working as|employed as)\\s+(?:an? |the )?(?<value>.+)$`, 'i'),
      topic: 'job',
    },
    {
      pattern:
        /^my (?:job|profession|occupation|role|position|title|job title) is\s+(?:now\s+)?(?:an? |the )?(?<value>.+)$/i,
      topic: 'job',
    },
    {
      pattern: new RegExp(`^${am}\\s+${now}an?\\s+(?<value>${englishProfessions}(?: (?:at|in|for|by) .+)?)$`, 'iu'),
      topic: 'job',
      except:
        /^(?:beginner|newcomer|non|lover|believer|supporter|user|reader|member|early riser|(?:\p{L}+ )*(?:person|lover|riser|user|member|vegetarian|speaker|beginner|smoker|drinker|father|mother|brother|sister|daughter|driver|owner|player|runner))\b/iu,
    },
    {
      pattern: new RegExp(
        `^(?:${am}|I got|I['’]ve got|I have got)\\s+${now}(?<value>married|single|divorced|engaged|widowed|separated|in a relationship)\\b.*$`,
        'i',
      ),
      topic: 'marital status',
    },
    {
      pattern: new RegExp(
        `^(?:${am}|I (?:went|became|turned|have become|['’]ve become))\\s+${now}(?:an? )?(?<value>(?:strict )?(?:vegetarian|vegan|pescatarian|omnivore|meat eater|flexitarian))\\b.*$`,
        'i',
      ),
      topic: 'diet',
    },
    {
      pattern: new RegExp(
        `^(?:${am} (?:very |severely |slightly |highly )?allergic to|I have an allergy to|I have a (?:severe )?(?=\\p{L}+ allergy)|my allergy is)\\s*(?<value>.+?)(?: allergy)?$`,
        'iu',
      ),
      topic: 'allergy',
      isOpen: true,
    },
    {
      pattern: new RegExp(`^${am}\\s+(?:lactose|gluten)[ -]intolerant(?<value>.*)$`, 'i'),
      topic: 'intolerance',
      isOpen: true,
    },
    {
      pattern:
        /^I (?:have|['’]ve got|was diagnosed with|suffer from|have been diagnosed with)\s+(?:type \d |chronic |mild |severe )*(?<value>(?:diabetes|asthma|migraines?|epilepsy|arthritis|hypertension|high blood pressure|adhd|dyslexia|insomnia|anxiety|depression|celiac disease|coeliac disease|\p{L}+(?:itis|emia|osis|pathy))\b.*)$/iu,
      topic: 'health',
      isOpen: true,
    },
    {
      pattern:
        /^I take\s+(?<value>(?:\p{L}+ )?(?:for my .+|\d+ ?mg.*|insulin.*|medication.*|pills.*|.+ (?:every|each|once|twice) .*))$/iu,
      topic: 'medicine',
      isOpen: true,
    },
    {
      pattern:
        /^my (?:all-time |absolute |new )?favou?rite (?<about>[\p{L} -]{2,40}?)\s+(?:is|are|was)\s+(?:now\s+)?(?<value>.+)$/iu,
      topic: 'favourite',
    },
    {
      pattern: /^(?<value>[\p{Lu}\p{N}][^,]{1,60}?) is my (?:new )?favou?rite (?<about>[\p{L} -]{2,40})$/u,
      topic: 'favourite',
    },
    {
      pattern: /^I\s+(?:now |really |much |always |generally |usually )*prefer\s+(?<value>.+?)(?: now| instead)?$/i,
      topic: 'preference',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern:
        /^I\s+(?:really |absolutely |truly |just |also |still |now |very much )*(?:like|love|enjoy|adore|am fond of|am into|am a (?:big |huge )?fan of)\s+(?<about>.+?)(?: now| a lot| very much| so much)?$/i,
      topic: 'taste',
      except: fleeting,
    },
    {
      pattern: /^I['’]m (?:really |very |a (?:big |huge )?)?(?:fond of|into|fan of)\s+(?<about>.+)$/i,
      topic: 'taste',
      except: fleeting,
    },
    {
      pattern:
        /^I\s+(?:really |absolutely |truly |just |now )*(?:hate|dislike|can['’]?t stand|cannot stand|detest|loathe|am not a fan of)\s+(?<about>.+?)(?: now)?$/i,
      topic: 'taste',
      isNegative: true,
      except: fleeting,
    },
    {
      pattern: new RegExp(
        `^I\\s+${now}(?:speak|can speak|am fluent in)\\s+(?:fluent |some |a little |native |good )?(?<value>\\p{Lu}.+)$`,
        'u',
      ),
      topic: 'language',
      isOpen: true,
    },
    { pattern: /^(?:I['’]m|I am) fluent in\s+(?<value>.+)$/i, topic: 'language', isOpen: true },
    { pattern: /^my native language is\s+(?<value>.+)$/i, topic: 'native language' },
    {
      pattern: new RegExp(`^I\\s+${now}drive\\s+(?:an? |my |the )?(?<value>.+)$`, 'i'),
      topic: 'car',
      except: fleeting,
    },
    {
      pattern: new RegExp(
        `^(?:I\\s+${now}(?:study|studied|major in|am enrolled in)|${am} ${now}(?:studying|majoring in|enrolled in))\\s+(?<value>.+)$`,
        'i',
      ),
      topic: 'studies',
      except: fleeting,
    },
    {
      pattern: new RegExp(`^(?:I\\s+${now}(?:learn)|${am} ${now}learning)\\s+(?:to |how to )?(?<value>.+)$`, 'i'),
      topic: 'learning',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern: new RegExp(
        `^I\\s+${now}(?:play|practi[cs]e|collect|volunteer (?:at|for|with)|coach|train for|teach)\\s+(?:the )?(?<value>.+)$`,
        'i',
      ),
      topic: 'activity',
      isOpen: true,
      except: fleeting,
    },
    { pattern: new RegExp(`^I\\s+${now}(?:eat)\\s+(?<value>.+)$`, 'i'), topic: 'eats', isOpen: true, except: fleeting },
    {
      pattern: new RegExp(`^I\\s+${now}(?:drink)\\s+(?<value>.+)$`, 'i'),
      topic: 'drinks',
      isOpen: true,
      except: fleeting,
    },
    { pattern: new RegExp(`^I\\s+${now}(?:smoke)(?<value>.*)$`, 'i'), topic: 'smoking' },
    {
      pattern: new RegExp(`^I(?:['’]ve| have)?\\s+${now}switched (?:from .+? )?to\\s+(?<value>.+)$`, 'i'),
      topic: 'uses',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern: new RegExp(`^I\\s+${now}(?:use|code in|program in|write)\\s+(?<value>\\p{Lu}.+)$`, 'u'),
      topic: 'uses',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern: new RegExp(
        `^I(?:['’]ve got| have got|\\s+${now}have|\\s+${now}own| adopted| bought| got)\\s+(?:an? |the )?(?:new )?(?<value>(?:appointment|interview|exam|flight|deadline|wedding|surgery|operation|presentation)\\b.+)$`,
        'i',
      ),
      topic: 'appointment',
      isOpen: true,
    },
    {
      pattern: new RegExp(
        `^(?:I|we)(?:['’]ve got| have got|\\s+${now}have|\\s+${now}own| adopted)\\s+(?<value>(?:an?|one|two|three|four|five|\\d+|no)\\s+(?:new |little |small |big |younger |older |twin |young |\\d+[- ]year[- ]old )*(?<about>dog|cat|puppy|kitten|parrot|horse|hamster|rabbit|pet|bird|fish|son|daughter|child|children|kid|kids|sons|daughters|brother|brothers|sister|sisters|sibling|siblings|dogs|cats|pets|car|bike|bicycle|motorcycle|boat|house|flat|apartment|garden|piano|guitar|husband|wife|girlfriend|boyfriend|grandchildren|grandson|granddaughter|degree|phd|licen[cs]e)\\b.*)$`,
        'i',
      ),
      topic: 'has',
    },
    {
      pattern:
        /^my (?<about>(?:wife|husband|son|daughter|mother|father|mom|mum|dad|brother|sister|partner|girlfriend|boyfriend|dog|cat|pet|boss|manager|best friend|doctor|grandmother|grandfather|roommate|neighbou?r|team|teacher|child|baby|puppy|kitten|parrot|horse)(?:['’]s)? (?:name|age|birthday|job|phone number|favou?rite \p{L}+))\s+(?:is|are|was)\s+(?<value>.+)$/iu,
      topic: 'my',
    },
    {
      pattern:
        /^my (?<about>(?:wife|husband|son|daughter|mother|father|mom|mum|dad|brother|sister|partner|girlfriend|boyfriend|dog|cat|pet|boss|manager|best friend|doctor|grandmother|grandfather|roommate|neighbou?r|team|teacher|child|baby|puppy|kitten|parrot|horse) (?:is called|is named|works|lives|studies|likes|loves|hates|has|speaks|plays|is allergic))\s*(?<value>.+)$/iu,
      topic: 'my',
    },
    {
      pattern:
        /^my (?<about>(?!(?:question|problem|point|issue|guess|bad|day|code|idea|answer|fault|mistake|opinion|understanding|impression|advice|apologies|plan|task|goal here|concern|internet|connection|mind|thought|head|suggestion|query|request|weekend|morning|evening|week|pleasure)\b)[\p{L} '’-]{2,40}?)\s+(?:is|are|was|is now|are now)\s+(?<value>(?!not sure|(?:very |so |too |really )?(?:slow|broken|down|bad|good|great|fine|ok|okay|here|gone|late|weird|wrong|simple|easy|hard|killing|driving|acting)\b).+)$/iu,
      topic: 'my',
    },
    {
      pattern:
        /^I\s+(?:usually|always|every (?:day|morning|evening|night|week|weekend|\p{L}+day))\s+(?!(?:know|forget|think|thought|said|say|understand|see|remember|mind|heard|seen|knew|want|wanted|wonder|get confused|feel)\b)(?<value>.+)$/iu,
      topic: 'habit',
      isOpen: true,
    },
    {
      pattern:
        /^(?:every (?:day|morning|evening|night|week|weekend|year|\p{L}+day)|on (?:week(?:days|ends)|\p{L}+days)),? I\s+(?<value>.+)$/iu,
      topic: 'habit',
      isOpen: true,
    },
    {
      pattern:
        /^I\s+(?<value>(?:run|swim|cycle|jog|meditate|hike|bike|commute|go to (?:the )?(?:gym|church|school)|go (?:running|swimming|hiking|cycling|climbing|skiing))\b.*\b(?:every|each|once|twice|on|daily|weekly|to work|by)\b.*)$/i,
      topic: 'habit',
      isOpen: true,
    },
    {
      pattern: new RegExp(
        `^(?:${am} ${now}(?:planning|going|about)|I ${now}(?:plan|intend)) to (?<value>(?:move|visit|travel|fly|marry|retire|study|learn|start|quit|buy|run|adopt|apply|climb|write)\\b.+)$`,
        'i',
      ),
      topic: 'plan',
      isOpen: true,
    },
    {
      pattern:
        /^I (?:want|dream of|am training|['’]m training)\s+(?:to |for )?(?<value>(?:become|learn|visit|run|climb|travel|write|start|marathon|triathlon|a marathon)\b.+)$/i,
      topic: 'goal',
      isOpen: true,
    },
    {
      pattern: new RegExp(`^${am}\\s+(?:really |very |terribly )?(?:afraid|scared|terrified) of\\s+(?<value>.+)$`, 'i'),
      topic: 'fear',
      isOpen: true,
      except: fleeting,
    },
    {
      pattern: new RegExp(
        `^${am}\\s+${now}(?<value>(?:left|right)-handed|colou?r-?blind|retired|unemployed|self-employed|pregnant|an? (?:morning|night|cat|dog) person|an introvert|an extrovert|an only child|a (?:father|mother|grandfather|grandmother|parent|twin|widower|widow|veteran)\\b.*)$`,
        'i',
      ),
      topic: 'trait',
      isOpen: true,
      except: unsure,
    },
    {
      pattern:
        /^I\s+(?<value>(?:graduated|retired|was promoted|sold|bought|inherited|published|founded|won|broke my|had surgery|got my (?:degree|licen[cs]e|phd))\b.+)$/i,
      topic: 'happened',
      isOpen: true,
      except: fleeting,
    },
    ...englishPersonStatements,
    ...englishFurtherStatements,
  ],
  paraphrases: englishParaphrases,
};
