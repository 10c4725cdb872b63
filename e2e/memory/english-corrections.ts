/**
 * Facts and their corrections as people put them, for dialogues that were written apart from the reader and from
 * `e2e/memory/generate-dialogues.ts`. `#` is a placeholder for the value that is stated first, `@` for the value that
 * replaces it.
 */
export type Correction = {
  readonly pool: keyof typeof englishValues;
  readonly told: readonly string[];
  readonly corrected: readonly string[];
};

export const englishValues = {
  place: ['Valencia', 'Bergen', 'Graz', 'Ottawa', 'Perth', 'Malmo', 'Bristol', 'Ghent', 'Turin', 'Zagreb'],
  firm: ['Zeiss', 'Maersk', 'Samsung', 'Danone', 'Heineken', 'Garmin', 'Adidas', 'Canon', 'Pirelli', 'Lego'],
  trade: [
    'baker',
    'electrician',
    'lawyer',
    'midwife',
    'accountant',
    'gardener',
    'historian',
    'cashier',
    'tailor',
    'judge',
  ],
  person: ['Nadia', 'Robert', 'Agnes', 'Viktor', 'Helena', 'Samir', 'Petra', 'Anton', 'Wilma', 'Jonas'],
  animal: ['Rex', 'Fluffy', 'Caramel', 'Tango', 'Snowball', 'Bubbles', 'Ginger', 'Shadow', 'Domino', 'Poppy'],
  tongue: [
    'Catalan',
    'Norwegian',
    'Ukrainian',
    'Hebrew',
    'Icelandic',
    'Romanian',
    'Thai',
    'Basque',
    'Estonian',
    'Irish',
  ],
  dish: [
    'goulash',
    'ceviche',
    'fondue',
    'couscous',
    'schnitzel',
    'polenta',
    'laksa',
    'chowder',
    'borscht',
    'ratatouille',
  ],
  brew: ['cocoa', 'cider', 'chai', 'tonic', 'smoothies', 'eggnog', 'sake', 'prosecco', 'mead', 'lassi'],
  machine: ['Volkswagen', 'Kia', 'Seat', 'Opel', 'Ford', 'Saab', 'Lancia', 'Cupra', 'Alpine', 'Isuzu'],
  pursuit: ['chess', 'yoga', 'karate', 'climbing', 'bowling', 'painting', 'curling', 'judo', 'rowing', 'squash'],
  years: ['23', '31', '37', '42', '46', '54', '58', '61', '64', '67'],
  subject: ['geography', 'nursing', 'logistics', 'physics', 'law', 'botany', 'optics', 'history', 'zoology', 'ethics'],
  irritant: ['eggs', 'soy', 'dust', 'wasps', 'lupin', 'oats', 'wool', 'cats', 'tomatoes', 'garlic'],
} as const;

export const englishCorrections: readonly Correction[] = [
  {
    pool: 'place',
    told: [
      'I live in #',
      'we moved to # two years ago',
      'my home is in #',
      'I am based in # at the moment',
      'I have been living in # since 2019',
    ],
    corrected: [
      'I no longer live in #, I live in @ now',
      'I have moved to @',
      'we live in @ now',
      'I left # for good, home is @ now',
      'correction: I live in @, not in #',
      'I said # before, but I actually live in @',
      'as of this month I live in @',
      'not # any more, I moved to @ in March',
      'I relocated to @ for work',
    ],
  },
  {
    pool: 'firm',
    told: ['I work for #', 'I work at # as a temp', 'my employer is #', 'I joined # last year'],
    corrected: [
      'I left # and joined @',
      'I work for @ now',
      'I got a new job at @',
      'my employer is @ now',
      'I do not work at # any more, I am at @ now',
      'I resigned from # and started at @',
      'actually I work at @, I mixed that up',
    ],
  },
  {
    pool: 'trade',
    told: ['I work as a #', 'I am a # by profession', 'my job is #'],
    corrected: [
      'I work as a @ now',
      'I am not a # any more, I became a @',
      'I retrained as a @',
      'I am a @ now',
      'I quit being a #, now I work as a @',
      'my job is @ now',
    ],
  },
  {
    pool: 'person',
    told: ['my name is #', 'people call me #', 'call me #'],
    corrected: [
      'my name is @ now, I changed it',
      'please call me @ from now on',
      'my name is actually @, not #',
      'I changed my name to @',
      'do not call me # any more, call me @',
    ],
  },
  {
    pool: 'person',
    told: ['my wife is called #', "my husband's name is #", 'my sister is called #'],
    corrected: ['sorry, her name is @, not #', 'I got the name wrong, it is @, not #', 'it is @, not #'],
  },
  {
    pool: 'animal',
    told: ['my cat is called #', "my dog's name is #", 'I have a dog called #'],
    corrected: ['we renamed our pet, the name is @ now', 'the name is @, not #', 'we call it @ now instead of #'],
  },
  {
    pool: 'tongue',
    told: ['I am learning #', "I'm studying # in the evenings"],
    corrected: [
      'I stopped learning #, I am learning @ now',
      'I gave up on # and started @ instead',
      'I am learning @ now instead of #',
      'I switched from # to @',
      'no more # for me, I am learning @ now',
    ],
  },
  {
    pool: 'dish',
    told: ['my favourite dish is #', 'my favorite food is #'],
    corrected: [
      'my favourite dish is @ now',
      'my favourite food is actually @',
      'my favorite food is @ these days, not #',
    ],
  },
  {
    pool: 'pursuit',
    told: ['my hobby is #', 'my main hobby is #'],
    corrected: ['my hobby is @ now', 'my hobby is not # any more, it is @', 'my main hobby is @ these days'],
  },
  {
    pool: 'dish',
    told: ['my favourite dish is #', 'my favorite food is #', 'I love #'],
    corrected: [
      'I do not like # any more, I prefer @',
      'I used to love #, now it is @',
      "I'm over #, these days I love @",
      'I went off #, @ is my favourite now',
    ],
  },
  {
    pool: 'brew',
    told: ['I drink # every evening', 'I drink # at breakfast'],
    corrected: [
      'I do not drink # any more, I drink @ now',
      'I stopped drinking #, I drink @ instead',
      'I switched from # to @',
      'I quit #, it is @ for me now',
      'I gave up # and drink @ now',
    ],
  },
  {
    pool: 'machine',
    told: ['I drive a #', 'my car is a #', 'I have a #'],
    corrected: [
      'I sold the #, I drive a @ now',
      'my car is a @ now',
      'I traded my # for a @',
      'I swapped the # for a @',
      'the # broke down for good, I drive a @ now',
      'I drive a @ these days',
    ],
  },
  {
    pool: 'pursuit',
    told: ['I practice # on Mondays', 'I do # twice a week'],
    corrected: [
      'I quit # and took up @',
      'I stopped doing #, I do @ now',
      'I do not do # any more, I do @ instead',
      'I replaced # with @',
      'I gave # up, I do @ now',
    ],
  },
  {
    pool: 'years',
    told: ['I am # years old', "I'm #"],
    corrected: ['I am @ now', 'I just turned @', 'I am @, not #', 'I made a mistake, I am @ years old'],
  },
  {
    pool: 'subject',
    told: ['I study #', 'my major is #', 'I am studying # at university'],
    corrected: [
      'I study @ now',
      'I changed my major to @',
      'I dropped # and study @ now',
      'I am not studying # any more, I am studying @',
      'my major is @ now',
      'I transferred from # to @',
    ],
  },
  {
    pool: 'irritant',
    told: ['I am allergic to #', 'I have an allergy to #'],
    corrected: [
      'I am not allergic to # after all, it is @',
      'I am allergic to @, not to #',
      'it turned out that I am not allergic to #, but to @',
      'my allergy is not to # but to @',
    ],
  },
];
