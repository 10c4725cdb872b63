/**
 * Dialogues of persons with an assistant, English and Russian, the same for the same seed.
 * `stated` and `replaced` are spelled as the person wrote them (case and inflection included), and each of these words
 * occurs in exactly one message of its dialogue.
 *
 * Templates: {pool} or {pool:form} is a distinctive word, {~pool} an ordinary one, [word] a literal distinctive word,
 * <his|hers> depends on the person; a typographic apostrophe stands for whatever apostrophe the person types.
 */
export type GeneratedDialogue = {
  readonly language: 'en' | 'ru';
  readonly kind: 'facts' | 'contradiction' | 'small talk';
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly stated: readonly string[];
  readonly replaced: string | undefined;
};

type Message = GeneratedDialogue['messages'][number];
type Lines = readonly string[];
type Voice = {
  readonly pools: Readonly<Record<string, Lines>>;
  readonly facts: Lines;
  readonly changes: Lines;
  readonly asks: Lines;
  readonly remarks: Lines;
  readonly greetings: Lines;
  readonly leads: Lines;
  readonly updates: Lines;
  readonly tails: Lines;
  readonly answers: Lines;
  readonly replies: Lines;
  readonly thanks: Lines;
};
type Writer = {
  readonly voice: Voice;
  readonly random: () => number;
  readonly female: boolean;
  readonly style: string;
  readonly used: Set<string>;
};
type Sentence = { readonly text: string; readonly words: Lines };

const list = (text: string): Lines => text.split(' ');
const forms = (stems: string, endings: string): Lines =>
  list(stems).map((stem) =>
    endings
      .split('/')
      .map((ending) => stem + ending)
      .join('/'),
  );
const numbers = (low: number, high: number): Lines => Array.from({ length: high - low + 1 }, (_, i) => `${low + i}`);

const EN: Voice = {
  pools: {
    city: list(
      'Lisbon Porto Berlin Toronto Seattle Denver Chicago Dublin Glasgow Manchester Warsaw Prague Vienna ' +
        'Madrid Oslo Helsinki Tallinn Melbourne Nairobi Bogota Austin Leeds Utrecht Krakow',
    ),
    country: list(
      'Portugal Germany Canada Norway Japan Brazil Mexico Spain Italy Poland Kenya India Iceland Greece ' +
        'Turkey Chile Vietnam Sweden Ireland Croatia',
    ),
    company: list(
      'Siemens Spotify Ikea Bosch Shopify Volvo Nokia Deloitte Lufthansa Philips Unilever Barclays ' +
        'Netflix Stripe Atlassian Ericsson Airbus Tesco Zalando Accenture Monzo',
    ),
    job: list(
      'nurse plumber teacher paramedic florist librarian carpenter dentist translator welder pharmacist ' +
        'journalist barista surveyor photographer chemist bookkeeper geologist physiotherapist locksmith veterinarian',
    ),
    woman: list(
      'Emma Olivia Priya Hannah Chloe Sofia Megan Ingrid Fatima Lucia Natalie Beatrice Yasmin Claire ' +
        'Gabriela Freya Leah Miriam Rosalind Tamsin Paula',
    ),
    man: list(
      'Liam Oliver Marcus Diego Tomasz Callum Henrik Yusuf Patrick Dominic Felix Gareth Stefan Mateo Kenji ' +
        'Rupert Hugo Leonard Tobias Graham',
    ),
    pet: list(
      'Biscuit Pickle Waffles Luna Mochi Ziggy Pepper Noodle Bruno Cleo Marble Pumpkin Rocket Nacho Sprout ' +
        'Hazel Gizmo Widget Bandit Clover',
    ),
    food: list(
      'lasagna sushi ramen tacos pierogi paella hummus risotto dumplings falafel curry burritos gnocchi ' +
        'pancakes gyoza shakshuka moussaka brisket bibimbap carbonara tiramisu',
    ),
    allergen: list(
      'peanuts shellfish penicillin pollen cashews sesame strawberries ibuprofen latex walnuts kiwi ' +
        'mustard celery aspirin almonds shrimp hazelnuts mangoes pistachios nickel ragweed',
    ),
    drink: list(
      'espresso cappuccino matcha rooibos kombucha lemonade oolong chamomile cortado mocha kefir horchata ' +
        'macchiato americano ristretto hibiscus sencha peppermint latte buttermilk Darjeeling',
    ),
    language: list(
      'Spanish German Japanese Polish Swedish Italian Portuguese Korean Arabic Turkish Dutch Finnish ' +
        'Greek Hindi Mandarin French Czech Hungarian Danish Swahili Welsh',
    ),
    hobby: list(
      'bouldering knitting kayaking pottery birdwatching woodworking fencing gardening cycling archery ' +
        'sailing calligraphy surfing origami beekeeping embroidery badminton swimming geocaching snowboarding',
    ),
    instrument: list(
      'guitar violin cello banjo piano ukulele saxophone clarinet accordion trumpet flute harmonica ' +
        'mandolin bassoon oboe trombone bagpipes sitar marimba dulcimer',
    ),
    car: list(
      'Toyota Skoda Peugeot Subaru Mazda Renault Hyundai Honda Fiat Tesla Nissan Citroen Dacia Suzuki ' +
        'Vauxhall Mitsubishi Lexus Chevrolet Jeep Porsche Jaguar',
    ),
    illness: list(
      'asthma diabetes migraines psoriasis eczema hypothyroidism epilepsy arthritis tinnitus anemia ' +
        'sciatica insomnia scoliosis glaucoma fibromyalgia gout hypertension rosacea lupus vertigo',
    ),
    subject: list(
      'biochemistry economics architecture linguistics philosophy astronomy archaeology marketing ' +
        'psychology statistics robotics anthropology musicology sociology genetics forestry theology neuroscience ' +
        'criminology meteorology',
    ),
    band: list(
      'Radiohead Coldplay Metallica Rammstein Gorillaz Nirvana Portishead Abba Pixies Slowdive Mogwai ' +
        'Interpol Paramore Oasis Megadeth Kraftwerk Placebo Scorpions Slipknot Evanescence',
    ),
    colour: list(
      'teal purple turquoise burgundy orange yellow crimson lavender emerald maroon indigo coral beige ' +
        'magenta scarlet navy ivory violet charcoal bronze',
    ),
    month: list('January February March April June July August September October November December'),
    age: numbers(19, 68),
  },
  facts: [
    'name|i’m <{man}|{woman}>, nice to meet you',
    'name|you can call me <{man}|{woman}>, everyone does',
    'name|name’s <{man}|{woman}>, we never got round to that',
    'age|i’m {age} years old',
    'age|i turned {age} last week and it feels weird',
    'age|not bad for someone who’s {age}, right?',
    'home|i live in {city}',
    'home|it rains all the time here in {city}, where i’ve been living for six years',
    'home|we’ve got a small flat in {city}, third floor, no lift',
    'origin|i grew up in {country} with my grandparents',
    'home|i’m based in {city} so keep the time zone in mind',
    'origin|i’m originally from {country}, came over as a kid',
    'home|can you suggest a weekend hike that’s close to {city}, since that’s where i live?',
    'work|i work at {company}, mostly from home',
    'work|my job at {company} keeps me busy till six most days',
    'work|i’m a {job}, so i’m on my feet all day',
    'work|i’ve been working as a {job} for about nine years',
    'work|i make a living as a {job}, nothing fancy',
    'work|what should i cook for the team, there are twelve of us at {company} where i work, and nobody’s picky?',
    'partner|my <wife|husband>’s name is <{woman}|{man}>',
    'partner|i’m getting married in {month}, so stressed already',
    'partner|me and my <girlfriend {woman}|boyfriend {man}> have been together for ages',
    'kids|our daughter {woman} just started school',
    'kids|i’ve got two boys, {man} and {man}, and they never sleep',
    'siblings|my sister {woman} is a {job}',
    'family|my mum lives in {country} and i only see her at christmas',
    'pet|my dog {pet} wakes me up at dawn every single day',
    'pet|we have a cat called {pet}',
    'pet|i’ve got a parrot, {pet}, who repeats everything i say',
    'allergy|i’m allergic to {allergen}',
    'health|i have {illness}, so some things are off the table',
    'birthday|my birthday’s in {month}',
    'health|because of my {illness} i have to see a specialist twice a year',
    'allergy|i had an allergic reaction to {allergen} as a kid and the allergy never went away',
    'food|i’m a [vegetarian], have been since school',
    'food|my favourite food is {food}',
    'food|i’ve been [vegan] for three years now and i don’t miss a thing',
    'food|i could honestly eat {food} every day of the week, it’s that good',
    'food|i can’t stand {food}, the smell alone puts me off',
    'drink|i can’t start the day without some {drink}',
    'music|i’m a huge {band} fan, been to four concerts already',
    'hobby|i’ve been into {hobby} for years',
    'music|i play the {instrument} in a little band on weekends',
    'language|i’m learning {language}, about a year in',
    'hobby|every saturday morning i go to my {hobby} class, never miss it',
    'vehicle|just bought myself a used {car}',
    'language|i speak {language} at home with my parents',
    'vehicle|i drive a {car}, it’s old but it runs',
    'study|i’m studying {subject} part time',
    'study|i did my degree in {subject} ages ago',
    'plan|we’re moving to {country} next spring, tickets are booked',
    'trait|i’m [left-handed], so scissors are evil',
    'colour|{colour} is my favourite colour, always has been',
    'habit|i don’t drink [alcohol] at all, never liked it',
    'habit|i go [running] along the river before breakfast every day',
    'thing|i own a little [sailboat], my pride and joy',
  ],
  changes: [
    'i live in {city} => we moved last month, i’m in {city} now',
    'i’ve been renting a place in {city} for years => i don’t live there anymore, home is {city} these days',
    'i work at {company} => i quit my old job and started at {company}',
    'i’m a software tester at {company} => i’ve switched employers, it’s {company} who pay me now',
    'i work as a {job} => i changed careers, i’m a {job} now',
    'i’m a {job} by trade => i gave that trade up for good and retrained, i’m a {job} these days',
    'my favourite food is {food} => i’ve gone right off it, my favourite is {food} now',
    'i love {food}, could live on it => i don’t like that dish anymore, i prefer {food} now',
    'i’m [married], eight years already => the divorce came through last week, so i’m [single] again',
    'i’m dating a <girl|guy> called <{woman}|{man}> => we broke up, i’m seeing someone else, <{woman}|{man}>',
    'i drive a {car} => sold that car, i’ve got a {car} now',
    'my car is a {car}, ten years old => we traded the old one in, so now it’s a {car}',
    'i’m learning {language} => i dropped that language, i’m learning {language} now',
    'my main hobby is {hobby} => i gave up my old hobby, it’s all {hobby} now',
    'i do {hobby} twice a week => i stopped going to that, switched to {hobby} in the autumn',
    'i’m a [vegetarian], strictly => i’m eating meat again, so i guess i’m an [omnivore] now',
    'i’m [vegan], no exceptions => i gave up on that diet, i’m [pescatarian] now',
    'i’m {age} years old => typo earlier about my age, i’m actually {age}',
    'my name is <{man}|{woman}> => i go by <{man}|{woman}> now, had it changed officially',
    'my favourite band is {band} => tastes change, {band} are my favourite now',
    'my favourite colour is {colour} => i changed my mind about the colour, i like {colour} best now',
    'every morning i have {drink} => my doctor told me to stop drinking that, so it’s {drink} in the mornings now',
    'i’m studying {subject} at uni => i switched my major, it’s {subject} now',
    'i play the {instrument} => sold my instrument and took up the {instrument}',
    'my birthday is in {month} => i typed the wrong month before, my birthday is in {month}',
    'we’re moving to {country} in the summer => the plan’s changed, we’ll be moving to {country}',
    'my dog’s name is {pet} => we renamed the dog, {pet} is the name now',
    'i’m allergic to {allergen} => the tests came back and i had it wrong, my allergy is to {allergen}',
    'i was born in {country} => i misspoke about my birthplace, it’s {country}',
    'my boss is called {man} => that boss left, my new boss is {woman}',
    'i [smoke] about ten a day => i’ve kicked the habit for good, totally [nicotine-free] since june',
    'my phone is an [iPhone] => switched phones last week, it’s a [Pixel] now',
    'i use [Windows] at home => i wiped that machine and run [Linux] on it now',
  ],
  asks: [
    'can you help me write a short email?',
    'what’s the weather usually like in {city} in autumn?',
    'continue',
    'how do you boil an egg so the yolk stays soft?',
    'explain recursion like i’m five',
    'give me three more options',
    'translate "my name is {woman}" into latin',
    'if i lived in {city}, how much would rent be?',
    'make it shorter',
    'suppose i were a {job}, what would i need to know about taxes?',
    'what’s the capital of {country}?',
    'is this sentence correct: "i work at {company} and i love it"?',
    'tell me a joke about a {job}',
    'write a limerick about a man from {city}',
    'how long is the flight from {city} to {country}?',
    'who founded {company}?',
    'which is easier for beginners, the {instrument} or the {instrument}?',
    'what rhymes with {colour}?',
    'rewrite that in a friendlier tone',
    'can you put that in a table?',
    'what do you think about pineapple on pizza?',
    'are you a real person?',
    'do you ever get tired?',
    'how do you say good night in {language}?',
    'what’s 17 percent of 240?',
    'how many people live in {city}?',
    'imagine you have a dog called {pet}, what would it look like?',
    'start over please',
    'is {food} hard to make?',
    'someone online wrote "i’m allergic to {allergen}", how common is that?',
    'recommend a movie for tonight',
    'in which film does the hero say "i’m {age} and i’ve never been in love"?',
    'what should i have for lunch?',
    'what would happen if i never slept again?',
    'let’s say i won the lottery tomorrow, what then?',
    'fix the typos in this: "i has a {car} and it go fast"',
    'is {illness} hereditary?',
    'why is the sky blue?',
    'a man in a novel says "i’m moving to {country}", is that good dialogue?',
    'what are the symptoms of {illness}?',
    'how is a {car} different from a {car}?',
    'that list again, but without the numbers',
    'what day is it today?',
    'let’s play a game: you’re a pirate and i’m your parrot',
    'what does "per se" mean?',
    'do penguins have knees?',
    'summarise the plot of hamlet in two lines',
    'write a verse in the style of {band}',
    'how old is the universe?',
    'write a birthday card for a {job}',
    'if you could travel, would you go to {country}?',
    'what goes with {food}?',
    'is {language} harder than {language}?',
    'what’s a good name for a cat in a story?',
    'give me a synonym for happy',
    'they say "people from {city} are friendly", is that true?',
    'who earns more, a {job} or a {job}?',
    'the ad says "i switched to {drink} and feel great", is it nonsense?',
    'would you rather study {subject}?',
  ],
  remarks: [
    'thanks, that helped a lot',
    'ok cool',
    'haha good one',
    'hmm, not quite what i meant',
    'wow, didn’t know that',
    'great answer',
    'that’s too long',
    'i think you’re wrong there',
    'sorry, i meant the other one',
    'makes sense',
    'ugh, it’s so hot today',
    'i’m bored right now',
    'i’m so tired today',
    'that’s exactly what i was looking for',
    'never mind',
    'i don’t get it',
    'let me think about it',
    'brb',
    'you’re funny',
    'ok i’ll try that',
    'nah',
    'interesting, go on',
    'perfect, thank you so much',
    'hm, that sounds a bit off',
    'fine, whatever you say',
  ],
  greetings: ['hi! ', 'hello! ', 'hey, ', 'good morning! ', 'hi there, '],
  leads: [
    '',
    '',
    '',
    '',
    'oh and ',
    'btw ',
    'so ',
    'well, ',
    'fyi ',
    'just so you know, ',
    'um, ',
    'by the way, ',
    'for context: ',
    'you know, ',
  ],
  updates: ['', '', '', '', 'oh, ', 'so, ', 'btw ', 'ok one more thing, ', 'update: ', 'hm, wait, ', 'heads up, '],
  tails: [
    '',
    '',
    '',
    '',
    '',
    ' lol',
    ' tbh',
    ', if that matters',
    ' :)',
    '. does that help?',
    '. just saying',
    ' haha',
  ],
  answers: [
    'Sure, here is a short version. Tell me if you want more detail.',
    'Happy to help. Here is one way to do it.',
    'Good question! The short answer is that it depends on a few things.',
    'Here you go. I kept it simple.',
    'Of course. Would you like an example as well?',
    'Let me think. There are two common ways to look at it.',
    'I can do that. Here is a first try.',
    'Here is an idea to start with.',
    'Done. Anything to change?',
    'Opinions differ, but here is a rough idea.',
  ],
  replies: [
    'Alright!',
    'You’re welcome.',
    'No problem, take your time.',
    'Understood. Shall we go on?',
    'Fair enough. What next?',
    'Ha, okay!',
    'All right, I am here when you need me.',
    'Okay. Is there anything else?',
  ],
  thanks: [
    'Good to know, thanks for telling me.',
    'Got it, I will keep that in mind.',
    'Okay, noted.',
    'Thanks for sharing. How can I help?',
    'I see! What would you like to do today?',
    'Oh, interesting. Tell me more.',
    'Understood. Is there anything you would like me to do with that?',
  ],
};

const RU: Voice = {
  pools: {
    city: [
      ...forms('Казан Перм Рязан Тюмен', 'ь/и/и/ь'),
      ...forms('Самар Тул Вологд Костром', 'а/е/ы/у'),
      'Тбилиси',
      ...forms('Воронеж Екатеринбург Новосибирск Краснодар Калининград Мурманск Иркутск Саратов Минск', '/е/а/'),
      ...forms('Ереван Белград Хабаровск Челябинск Псков', '/е/а/'),
      'Ярославль/Ярославле/Ярославля/Ярославль',
    ],
    country: forms(
      'Португали Германи Норвеги Япони Бразили Испани Итали Греци Турци Черногори Финлянди Швеци ' +
        'Армени Серби Румыни Болгари Австрали Исланди Голланди Шотланди',
      'я/и/и/ю',
    ),
    company: forms(
      'Яндекс Сбербанк Газпром Озон Магнит Лукойл Ростелеком Аэрофлот Мегафон Билайн Росатом Уралхим ' +
        'Росбанк Еврохим Совкомбанк Гознак Циан Авиасейлс Сибур Промсвязьбанк Уралсиб',
      '/е/а/',
    ),
    job: forms(
      'фельдшер бухгалтер юрист программист сантехник электрик повар фармацевт журналист переводчик ' +
        'дизайнер инженер логист геолог тренер парикмахер ветеринар фотограф сварщик флорист стоматолог',
      '/ом',
    ),
    woman: list(
      'Катя Настя Полина Алина Даша Юля Ксюша Марина Наташа Галина Лариса Кристина Диана Жанна Тамара Надя ' +
        'Регина Эльвира Снежана Лида Вероника',
    ),
    man: list(
      'Сергей Андрей Дима Артем Кирилл Павел Игорь Олег Вадим Максим Никита Денис Тимур Руслан Гриша Федор ' +
        'Леонид Степан Борис Матвей Глеб',
    ),
    pet: list(
      'Барсик Мурка Пушок Бублик Шарик Снежок Пончик Тучка Персик Симба Рыжик Плюша Буся Арчи Марсик Кузя ' +
        'Черныш Батон Зефир Тишка Жужа',
    ),
    food: list(
      'борщ плов хинкали пельмени вареники суши ризотто хумус оливье холодец сырники блины голубцы чебуреки ' +
        'лагман рамен фалафель шашлык манты драники гуляш',
    ),
    allergen: list(
      'арахис пенициллин пыльцу креветки клубнику шоколад цитрусы латекс аспирин полынь амброзию кунжут ' +
        'киви сельдерей горчицу ибупрофен никель фундук миндаль березу новокаин',
    ),
    drink: list(
      'эспрессо капучино матчу ройбуш кефир какао компот латте морс улун пуэр ряженку айран цикорий тархун ' +
        'лимонад американо кисель боржоми комбучу макиато',
    ),
    language: forms(
      'испанск немецк японск польск шведск итальянск португальск корейск арабск турецк финск греческ ' +
        'китайск французск чешск венгерск датск грузинск армянск сербск',
      'ий/ом',
    ),
    hobby: [
      ...forms('скалолазани вязани плавани фехтовани рисовани', 'е/ем'),
      ...forms('каллиграфи акварел', 'я/ей'),
      ...forms('каякинг серфинг бадминтон теннис сноуборд паркур волейбол дайвинг бильярд', '/ом'),
      ...forms('керамик рыбалк вышивк йог', 'а/ой'),
    ].map((item) => item.replace('аквареля', 'акварель')),
    instrument: list(
      'гитаре скрипке виолончели пианино укулеле саксофоне кларнете аккордеоне трубе флейте балалайке ' +
        'домре баяне арфе барабанах банджо тромбоне гобое мандолине контрабасе',
    ),
    car: [
      ...forms('Тойот Мазд Хонд Шкод Нив Вест Грант Тесл Приор', 'а/е/у'),
      ...list('Рено Пежо Вольво Субару'),
      ...forms('Форд Ниссан Лексус Мерседес Хавал', '/е/'),
      ...list('Мицубиси Сузуки Джили'),
    ],
    illness: [
      ...forms('астм экзем глауком подагр', 'а/ы'),
      ...forms('эпилепси анеми гипертони аритми', 'я/и'),
      ...forms('диабет псориаз артрит гастрит сколиоз варикоз остеохондроз гипотиреоз холецистит тонзиллит', '/а'),
      ...forms('мигрен близорукост', 'ь/и'),
    ],
    subject: forms(
      'социолог экономист архитектор лингвист психолог биохимик историк философ маркетолог логопед ' +
        'генетик астроном политолог математик физик картограф режиссер нефтяник хирург филолог',
      'а',
    ),
    band: list(
      'Сплин Чайф Аквариум Наутилус Мельница Моторама Ленинград Кукрыниксы Звери Lumen Louna Rammstein ' +
        'Metallica Radiohead Coldplay Nirvana Portishead Gorillaz Placebo Scorpions Slipknot',
    ),
    colour: list(
      'фиолетовый бирюзовый бордовый оранжевый желтый малиновый изумрудный лавандовый коралловый бежевый ' +
        'салатовый сиреневый серебристый золотистый розовый зеленый синий голубой лиловый терракотовый вишневый',
    ),
    month: [...forms('январ феврал апрел июн июл сентябр октябр ноябр декабр', 'я/е'), ...forms('март август', 'а/е')],
    day: numbers(2, 28),
    age: numbers(25, 60).filter((age) => Number(age) % 10 === 0 || Number(age) % 10 > 4),
  },
  facts: [
    'name|меня зовут <{man}|{woman}>',
    'name|я <{man}|{woman}>, будем знакомы',
    'name|зови меня <{man}|{woman}>, на ты',
    'age|мне {age} лет',
    'age|на прошлой неделе исполнилось {age} лет, даже не верится',
    'home|живу в {city:1}',
    'age|в мои {age} лет уже хочется чего-то поспокойнее',
    'home|я сейчас в {city:1}, тут и живу',
    'home|мы снимаем квартиру в {city:1}, третий этаж без лифта',
    'work|я {job}, весь день на ногах',
    'home|у нас в {city:1} опять снег, за восемь лет что я тут живу так и не <привык|привыкла>',
    'home|куда съездить на выходные недалеко от {city:2}, раз уж я тут живу?',
    'work|работаю {job:1} лет девять уже',
    'origin|я <родился|родилась> в {country:1}, потом родители переехали',
    'work|по профессии я {job}, ничего особенного',
    'origin|детство я прове<л|ла> в {country:1} у бабушки',
    'work|работаю в {company:1}, в основном из дома',
    'work|уже пять лет тружусь в {company:1} и пока не надоело',
    'kids|дочка {woman} только пошла в школу',
    'work|нас в {company:1}, где я работаю, двенадцать человек, что приготовить на всех?',
    'partner|<мою жену зовут {woman}|моего мужа зовут {man}>',
    'partner|в {month:1} у меня свадьба, уже нервничаю',
    'partner|мы с <девушкой|парнем> давно вместе, <ее зовут {woman}|его зовут {man}>',
    'pet|у нас живет кот {pet}',
    'kids|у меня двое пацанов, {man} и {man}, вообще не спят',
    'siblings|у меня есть сестра {woman}, она {job}',
    'family|мама живет в {country:1}, видимся только на новый год',
    'health|у меня {illness}, поэтому не все можно',
    'pet|мой пес {pet} будит меня в пять утра каждый божий день',
    'allergy|у меня аллергия на {allergen}',
    'pet|завели попугая, назвали {pet}, повторяет все подряд',
    'food|я [<вегетарианец|вегетарианка>], еще со школы',
    'health|из-за {illness:1} приходится обследоваться два раза в год',
    'food|мое любимое блюдо - {food}',
    'allergy|на {allergen} у меня с детства жуткая аллергия, так что без этого',
    'language|учу {language}, год уже',
    'food|я уже три года [веган] и ни разу не пожалел<|а>',
    'food|могу есть {food} хоть каждый день, честно',
    'food|терпеть не могу {food}, от одного запаха плохо',
    'drink|по утрам всегда пью {drink}, иначе не проснусь',
    'music|я <фанат|фанатка> группы {band}, был<|а> уже на четырех концертах',
    'hobby|мое хобби - {hobby}, затягивает',
    'music|по выходным играю на {instrument} в маленьком ансамбле',
    'hobby|уже много лет увлекаюсь {hobby:1}',
    'hobby|по субботам занимаюсь {hobby:1}, это святое',
    'language|дома с родителями говорим на {language:1}',
    'vehicle|езжу на {car:1}, машинка старая но бегает',
    'vehicle|наконец купил<|а> себе {car:2} с пробегом',
    'study|учусь на {subject}, третий курс',
    'study|когда-то выучил<ся|ась> на {subject}, диплом лежит в шкафу',
    'plan|весной переезжаем в {country:3}, билеты уже куплены',
    'birthday|день рождения у меня в {month:1}',
    'birthday|мой день рождения {~day} {month}, запомни на всякий случай',
    'trait|я [левша], ножницы мой враг',
    'colour|мой любимый цвет {colour}, всегда такой был',
    'habit|каждое утро до завтрака [бегаю] вдоль реки',
    'habit|[алкоголь] не пью совсем, никогда не нравился',
    'thing|у меня есть своя маленькая [яхта], моя гордость',
  ],
  changes: [
    'я живу в {city:1} => мы переехали в прошлом месяце, теперь живу в {city:1}',
    'снимаю квартиру в {city:1} уже давно => я там больше не живу, перебрал<ся|ась> в {city:3}',
    'работаю в {company:1} => уволил<ся|ась> со старой работы и устроил<ся|ась> в {company:3}',
    'я тестировщик в {company:1} => сменил<|а> работодателя, теперь я в {company:1}',
    'работаю {job:1} => сменил<|а> профессию, теперь я {job}',
    'по профессии я {job} => с прежней профессией покончено, переучил<ся|ась> и работаю {job:1}',
    'мое любимое блюдо - {food} => это мне надоело, теперь любимое - {food}',
    'обожаю {food} => разлюбил<|а> я это блюдо, теперь предпочитаю {food}',
    'я [<женат|замужем>], уже восемь лет => мы развелись на прошлой неделе, я снова [<холостяк|свободна>]',
    '<встречаюсь с девушкой, ее|встречаюсь с парнем, его> зовут <{woman}|{man}> => ' +
      'мы расстались, теперь <мою девушку|моего парня> зовут <{woman}|{man}>',
    'езжу на {car:1} => ту машину продал<|а>, теперь у меня {car}',
    'моя машина - {car}, ей лет десять => старую сдали в трейд-ин и взяли {car:2}',
    'учу {language} => тот язык бросил<|а>, теперь учу {language}',
    'мое хобби - {hobby} => прежнее увлечение забросил<|а>, теперь занимаюсь {hobby:1}',
    'два раза в неделю занимаюсь {hobby:1} => туда больше не хожу, теперь мое хобби - {hobby}',
    'я [<вегетарианец|вегетарианка>] => снова ем мясо, так что теперь я [<всеядный|всеядная>]',
    'я [веган], все строго => с той диетой закончил<|а>, теперь сижу на [кето]',
    'мне {age} лет => ой, я выше ошиб<ся|лась> с возрастом, на самом деле мне {age} лет',
    'меня зовут <{man}|{woman}> => я официально сменил<|а> имя, теперь я <{man}|{woman}>',
    'моя любимая группа - {band} => вкусы меняются, теперь любимая - {band}, слушаю без остановки',
    'мой любимый цвет {colour} => с цветом передумал<|а>, теперь больше всего нравится {colour}',
    'по утрам пью {drink} => доктор это пить запретил, по утрам теперь пью {drink}',
    'учусь на {subject} => переве<лся|лась> на другой факультет, теперь учусь на {subject}',
    'играю на {instrument} => продал<|а> свой инструмент, теперь играю на {instrument}',
    'день рождения у меня в {month:1} => я не тот месяц написал<|а>, день рождения в {month:1}',
    'летом переезжаем в {country:3} => планы поменялись, переезжать будем в {country:3}',
    'мою собаку зовут {pet} => собаку мы переименовали, теперь кличка {pet}',
    'у меня аллергия на {allergen} => пришли анализы, я ошибал<ся|ась>, аллергия оказалась на {allergen}',
    'я <родился|родилась> в {country:1} => я оговорил<ся|ась> про место рождения, правильно - в {country:1}',
    'моего начальника зовут {man} => тот начальник ушел, теперь мой шеф {woman}',
    '[курю] по пачке в день => с сигаретами завязал<|а> насовсем, теперь я [некурящ<ий|ая>]',
    'телефон у меня [айфон] => сменил<|а> телефон, теперь [самсунг]',
    'дома сижу на [винде] => снес<|ла> ту систему и поставил<|а> [линукс]',
  ],
  asks: [
    'помоги написать короткое письмо',
    'какая погода обычно в {city:1} осенью?',
    'как сварить яйцо всмятку?',
    'объясни рекурсию как будто мне пять лет',
    'переведи на латынь "меня зовут {woman}"',
    'сделай покороче',
    'если бы я жил<|а> в {city:1}, сколько бы стоила аренда?',
    'допустим, я {job}, какие налоги надо платить?',
    'есть ли ошибка в предложении "я работаю в {company:1} и мне нравится"?',
    'какая столица у {country:2}?',
    'придумай шутку, где главный герой {job}',
    'сколько лететь из {city:2} до {country:2}?',
    'кто основал {company}?',
    'на чем проще учиться играть, на {instrument} или на {instrument}?',
    'какая рифма к слову "{colour}"?',
    'перепиши помягче',
    'дай еще три варианта',
    'можно это таблицей?',
    'что думаешь про ананасы на пицце?',
    'ты живой человек или машина?',
    'ты вообще устаешь?',
    'правда ли {language} сложнее, чем {language}?',
    'сколько будет 17 процентов от 240?',
    'сколько людей живет в {city:1}?',
    'посоветуй фильм на вечер',
    'представь, что у тебя собака по кличке {pet}, какая она?',
    'что бы съесть на обед?',
    'давай сначала',
    'продолжай',
    'в интернете пишут "у меня аллергия на {allergen}", это часто бывает?',
    'сложно ли готовить {food}?',
    'в каком фильме герой говорит "мне {age} лет, а я ни разу не любил"?',
    'что будет, если вообще не спать?',
    'представим, что я выиграл<|а> в лотерею, что дальше?',
    'исправь ошибки: "у миня есть {car} она быстрая"',
    'герой романа говорит "я переезжаю в {country:3}", нормальный диалог?',
    '{illness} передается по наследству?',
    'какие признаки у {illness:1}?',
    'чем {car} отличается от других?',
    'повтори еще раз, только без списков',
    'какой сегодня день?',
    'давай поиграем: ты пират, а я твой попугай',
    'что значит "де-факто"?',
    'перескажи гамлета в двух строчках',
    'напиши куплет в духе группы {band}',
    'почему трава пахнет дождем?',
    'поздравь в стихах человека, который работает {job:1}',
    'если бы ты мог путешествовать, поехал бы в {country:3}?',
    'как назвать кота в рассказе?',
    'есть ли у пингвинов колени?',
    'правда, что в {city:1} все приветливые?',
    'подбери синоним к слову "радостный"',
    'с чем подают {food}?',
    'сколько лет вселенной?',
    'в рекламе говорят "я пью {drink} и помолодел", это бред?',
    'кто больше получает, {job} или {job}?',
  ],
  remarks: [
    'спасибо, очень помог',
    'ок, понятно',
    'ахаха, хорошо',
    'хм, не совсем то',
    'ого, не знал<|а>',
    'отличный ответ',
    'слишком длинно',
    'мне кажется, ты ошибаешься',
    'извини, я про другое спрашивал<|а>',
    'ну и жара сегодня',
    'мне сейчас скучно',
    'что-то я сегодня устал<|а>',
    'да, это то что нужно',
    'ладно, проехали',
    'ничего не понял<|а>',
    'дай подумать',
    'сейчас вернусь',
    'смешной ты',
    'ок, попробую',
    'логично',
    'интересно, а дальше?',
    'не, не надо',
    'супер, спасибо большое',
    'как-то это странно звучит',
    'ну как скажешь',
  ],
  greetings: ['привет! ', 'здравствуй! ', 'доброе утро! ', 'приветик, ', 'добрый вечер. '],
  leads: [
    '',
    '',
    '',
    '',
    'кстати, ',
    'ну ',
    'вообще ',
    'если что, ',
    'слушай, ',
    'короче, ',
    'да, и ',
    'к слову, ',
    'для контекста: ',
    'знаешь, ',
  ],
  updates: [
    '',
    '',
    '',
    '',
    'ой, ',
    'кстати, ',
    'слушай, ',
    'короче, ',
    'новость: ',
    'хм, погоди, ',
    'тут такое дело, ',
  ],
  tails: ['', '', '', '', '', ' ))', ' :)', ', если это важно', '. вот так', ', так вышло', ' ахах', '. это поможет?'],
  answers: [
    'Конечно, вот короткий вариант. Скажите, если нужно подробнее.',
    'С радостью помогу. Вот один из способов.',
    'Хороший вопрос! Если коротко, все зависит от обстоятельств.',
    'Готово. Постарался без лишнего.',
    'Разумеется. Привести пример?',
    'Дайте подумать. Тут возможны два подхода.',
    'Могу. Вот первая попытка.',
    'Вот идея для начала.',
    'Сделано. Что-нибудь поправить?',
    'Мнения расходятся, но примерно так.',
  ],
  replies: [
    'Хорошо!',
    'Пожалуйста.',
    'Ничего страшного, не торопитесь.',
    'Понял. Идем дальше?',
    'Ладно. Что теперь?',
    'Ха, договорились!',
    'Я на связи, если понадоблюсь.',
    'Хорошо. Что-нибудь еще?',
  ],
  thanks: [
    'Понял, спасибо, что рассказали.',
    'Учту.',
    'Хорошо, запомню.',
    'Спасибо, что поделились. Чем помочь?',
    'Вот как! Чем займемся сегодня?',
    'О, интересно. Расскажите еще.',
    'Ясно. Нужно что-нибудь с этим сделать?',
  ],
};

/** The mulberry32 generator: numbers from 0 up to 1, the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
const pick = (random: () => number, items: Lines): string => items[Math.floor(random() * items.length)] ?? '';
const ended = (text: string): string => (/[.!?)]$/u.test(text) ? text : `${text}.`);

/** An item that this dialogue has not had yet. */
function draw(writer: Writer, items: Lines): string {
  const item = pick(
    writer.random,
    items.filter((candidate) => !writer.used.has(candidate)),
  );
  if (item === '') throw new Error('a pool of the dialogue generator is missing or exhausted');
  writer.used.add(item);
  return item;
}

function render(writer: Writer, template: string): Sentence {
  const words: string[] = [];
  const keep = (word: string): string => {
    words.push(word);
    return word;
  };
  const text = template
    .replace(/<([^|>]*)\|([^>]*)>/gu, (_all: string, his: string, hers: string) => (writer.female ? hers : his))
    .replace(/\{(~?)([a-z]+)(?::(\d))?\}/gu, (_all: string, quiet: string, pool: string, form: string | undefined) => {
      const cases = draw(writer, writer.voice.pools[pool] ?? []).split('/');
      const word = cases[Number(form ?? 0)] ?? cases[0] ?? '';
      return quiet === '' ? keep(word) : word;
    })
    .replace(/\[([^\]]+)\]/gu, (_all: string, word: string) => keep(word));
  return { text, words };
}

/** The text as this person types it: neatly, all in lower case, or with careless punctuation. */
function typed({ random, style }: Writer, text: string): string {
  const apostrophe = style === 'neat' ? "'" : pick(random, ["'", "'", '’', '']);
  const plain = text.replace(/’/gu, apostrophe);
  if (style === 'neat') {
    const capital = (_all: string, before: string, letter: string): string => before + letter.toUpperCase();
    return ended(plain.replace(/\bi\b/gu, 'I').replace(/(^|[.!?] +)(\p{Ll})/gu, capital));
  }
  if (style === 'lower') {
    const lower = plain.toLowerCase().replace(/\.$/u, '');
    return random() < 0.3 ? lower.replace(/, /gu, ' ') : lower;
  }
  const loose = plain
    .replace(/, /gu, () => pick(random, [', ', ',', ' ', ' , ']))
    .replace(/\. /gu, () => pick(random, ['. ', '.. ', ' ', '! ']));
  if (loose.endsWith('?')) return loose.slice(0, -1) + pick(random, ['?', '??', '', ' ?']);
  return loose + pick(random, ['', '', '!!', '...', ' .']);
}

function sentence(writer: Writer, template: string, leads: Lines): Sentence {
  const { text, words } = render(writer, template);
  const tail = /[.?]$/u.test(text) ? '' : pick(writer.random, writer.voice.tails);
  return { text: pick(writer.random, leads) + text + tail, words };
}

/** A dialogue of so many turns, with the given sentences in their turns and ordinary chat everywhere else. */
function converse(writer: Writer, turns: number, given: ReadonlyMap<number, string>): readonly Message[] {
  const { random, voice } = writer;
  const chat = (lines: Lines): string => render(writer, draw(writer, lines)).text;
  const messages: Message[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const asked = turn === 0 || random() < 0.65;
    const told = given.get(turn);
    let text = told ?? chat(asked ? voice.asks : voice.remarks);
    let answers = asked ? voice.answers : voice.replies;
    if (told !== undefined) {
      const mix = random();
      answers = mix < 0.25 ? voice.answers : voice.thanks;
      if (mix < 0.25) text = `${ended(told)} ${chat(voice.asks)}`;
      else if (mix < 0.4) text = `${ended(chat(turn === 0 ? voice.asks : voice.remarks))} ${told}`;
    }
    if (turn === 0 && random() < 0.3) text = pick(random, voice.greetings) + text;
    messages.push({ role: 'user', content: typed(writer, text) });
    messages.push({ role: 'assistant', content: pick(random, answers).replace(/’/gu, "'") });
  }
  return messages;
}

/** The word as it is spelled in the only message that has it; undefined if none or several have it. */
function spelled(messages: readonly Message[], word: string): string | undefined {
  const wanted = word.toLowerCase();
  const holders = messages.filter(({ content }) => content.toLowerCase().includes(wanted));
  if (holders.length !== 1) return undefined;
  const content = holders[0]?.content ?? '';
  const start = content.toLowerCase().indexOf(wanted);
  return content.slice(start, start + word.length);
}

/** One dialogue, or undefined if its words turned out ambiguous. */
function attempt(
  random: () => number,
  language: GeneratedDialogue['language'],
  kind: GeneratedDialogue['kind'],
): GeneratedDialogue | undefined {
  const voice = language === 'en' ? EN : RU;
  const style = pick(random, ['neat', 'lower', 'sloppy']);
  const writer: Writer = { voice, random, female: random() < 0.5, style, used: new Set() };
  const given = new Map<number, string>();
  const words: string[] = [];
  let turns = between(random, 2, 5);
  let old: string | undefined;
  if (kind === 'facts') {
    const count = between(random, 1, 3);
    turns = between(random, count + 1, 5);
    const free = Array.from({ length: turns }, (_, turn) => turn);
    const topics = new Set<string>();
    let place = -1;
    for (let fact = 0; fact < count; fact += 1) {
      const [topic = '', ...rest] = draw(
        writer,
        voice.facts.filter((line) => !topics.has(line.split('|')[0] ?? '')),
      ).split('|');
      topics.add(topic);
      const told = sentence(writer, rest.join('|'), voice.leads);
      words.push(...told.words);
      if (place < 0 || random() > 0.2) place = free.splice(Math.floor(random() * free.length), 1)[0] ?? 0;
      const before = given.get(place);
      given.set(place, before === undefined ? told.text : `${ended(before)} ${told.text}`);
    }
  } else if (kind === 'contradiction') {
    turns = between(random, 3, 5);
    const [before = '', after = ''] = draw(writer, voice.changes).split(' => ');
    const first = sentence(writer, before, voice.leads);
    const second = sentence(writer, after, voice.updates);
    const place = between(random, 0, turns - 3);
    given.set(place, first.text).set(between(random, place + 2, turns - 1), second.text);
    old = first.words[0];
    words.push(...second.words);
  }
  const messages = converse(writer, turns, given);
  const stated = words.flatMap((word) => spelled(messages, word) ?? []);
  const replaced = old === undefined ? undefined : spelled(messages, old);
  if (stated.length !== words.length || (old !== undefined && replaced === undefined)) return undefined;
  return { language, kind, messages, stated, replaced };
}

/** Facts first, then contradictions, then small talk; English and Russian by turns; no two dialogues are the same. */
export function generateDialogues(
  seed: number,
  counts: { readonly facts: number; readonly contradictions: number; readonly smallTalk: number },
): readonly GeneratedDialogue[] {
  const random = mulberry32(seed);
  const seen = new Set<string>();
  const dialogues: GeneratedDialogue[] = [];
  const add = (kind: GeneratedDialogue['kind'], count: number): void => {
    for (let made = 0, tries = 0; made < count; tries += 1) {
      if (tries > count * 50) throw new Error(`too few different dialogues of the kind ${kind}`);
      const dialogue = attempt(random, made % 2 === 0 ? 'en' : 'ru', kind);
      const key = JSON.stringify(dialogue?.messages);
      if (dialogue === undefined || seen.has(key)) continue;
      seen.add(key);
      dialogues.push(dialogue);
      made += 1;
    }
  };
  add('facts', counts.facts);
  add('contradiction', counts.contradictions);
  add('small talk', counts.smallTalk);
  return dialogues;
}
