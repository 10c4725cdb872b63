import { analyse } from '#search/analysis/analyse';

/** A kind of values; a new value of the kind can replace an earlier one. */
export type ValueKind = {
  /** Topics of memories that state such a value; absent for times, which anything can have. */
  readonly topics?: RegExp;
  /** Such things can be given by others permanently: "they gave us Macs". */
  readonly isGiven?: true;
  /** A switch to such a value is lasting only if the sentence states since when. */
  readonly isOfTheMoment?: true;
  /** Stems of values whose words also have another meaning, so that a sentence with such a word names no new value. */
  readonly common?: ReadonlySet<string>;
  /** Terms that name such a value beside words for a change, without words for a switch: "I bank with Monzo now". */
  readonly cues?: ReadonlySet<string>;
  /** By stem: the value, which words of both languages and of several spellings can name. */
  readonly values: ReadonlyMap<string, string>;
};

/** @param words the values; slashes separate the spellings of one value */
function valuesOf(words: string): ReadonlyMap<string, string> {
  const groups = words.split(' ').map((group) => group.split('/'));
  const named = groups.flatMap((spellings) => spellings.map((word) => [word, spellings[0] ?? word] as const));
  return new Map(named.flatMap(([word, value]) => analyse(word).map((stem) => [stem, value] as const)));
}

const termsOf = (words: string): ReadonlySet<string> => new Set(analyse(words));

/** The values that the rules know; other values are recognized only by the words around them. */
export const valueKinds: readonly ValueKind[] = [
  {
    values: valuesOf(
      'monday/понедельник tuesday/вторник wednesday/среда thursday/четверг friday/пятница saturday/суббота sunday/воскресенье',
    ),
  },
  {
    values: valuesOf(
      'january/январь/января february/февраль/февраля march/март/марта april/апрель/апреля may/май/мая/мае june/июнь/июня july/июль/июля august/август/августа september/сентябрь/сентября october/октябрь/октября november/ноябрь/ноября december/декабрь/декабря',
    ),
  },
  {
    values: valuesOf('morning/утро/утром/утрам afternoon evening/вечер/вечером/вечерам night/ночь/ночью/ночам'),
  },
  {
    topics: /^(?:car|my: (?:car|машин|автомоб)|has: (?:car|машин))/,
    common: termsOf('leaf focus golf polo seat mini civic jaguar fiesta лиф фокус гольф поло мини приус ягуар'),
    values: valuesOf(
      'toyota/тойота honda/хонда mazda/мазда nissan/ниссан leaf/лиф kia/киа hyundai/хендай/хундай volvo/вольво ford/форд fiesta/фиеста focus/фокус golf/гольф volkswagen/vw/фольксваген polo/поло bmw/бмв audi/ауди mercedes/мерседес skoda/шкода octavia/октавия seat renault/рено peugeot/пежо citroen/ситроен fiat/фиат opel/опель vauxhall mini/мини tesla/тесла lada/лада lexus/лексус subaru/субару suzuki/сузуки jeep/джип chevrolet/шевроле porsche/порше haval/хавал chery/чери geely/джили prius/приус corolla/королла civic yaris clio jaguar',
    ),
  },
  {
    topics: /^(?:my: (?:phone|mobil|smartphon|телефон|смартфон|мобильн)|uses|has)/,
    cues: termsOf('user owner пользователь'),
    isGiven: true,
    common: termsOf('galaxy pixel honor галакси пиксель хонор'),
    values: valuesOf(
      'iphone/айфон samsung/самсунг galaxy/галакси pixel/пиксель xiaomi/сяоми/ксиаоми huawei/хуавей nokia/нокиа honor/хонор motorola/моторола oneplus fairphone android/андроид',
    ),
  },
  {
    topics: /^(?:uses|my: (?:laptop|comput|notebook|ноутбук|компьютер|комп))/,
    isGiven: true,
    values: valuesOf(
      'windows/винда/виндовс mac/macs/macbook/macos/imac/мак/маки/макбук/макос linux/линукс ubuntu/убунту chromebook thinkpad/тинкпад dell/делл lenovo/леново asus/асус acer/асер',
    ),
  },
  {
    topics: /^(?:supports|my: (?:team|club|команд|клуб))/,
    cues: termsOf('root cheer support follow fan sorry болею болельщик фанат поддерживаю'),
    // Cities and things that are named like a club.
    common: termsOf(
      'liverpool ливерпуль newcastle sunderland leeds rubin рубин krasnodar краснодар barcelona барселона milan милан inter интер bayern бавария dortmund дортмунд dynamo динамо rangers',
    ),
    values: valuesOf(
      'chelsea/челси fulham/фулхэм arsenal/арсенал liverpool/ливерпуль everton/эвертон spurs/tottenham/тоттенхэм celtic rangers newcastle sunderland leeds spartak/спартак dynamo/динамо zenit/зенит/зениту cska/цска lokomotiv/локомотив rubin/рубин krasnodar/краснодар barcelona/барселона juventus/ювентус milan/милан inter/интер bayern/бавария dortmund/дортмунд',
    ),
  },
  {
    topics: /^(?:learning|studies)/,
    // People may also switch to another language in a conversation only.
    isOfTheMoment: true,
    common: termsOf('english английский russian русский'),
    values: valuesOf(
      'english/английский german/немецкий french/французский spanish/испанский italian/итальянский portuguese/португальский dutch/голландский/нидерландский polish/польский czech/чешский russian/русский ukrainian/украинский greek/греческий turkish/турецкий arabic/арабский hebrew/иврит hindi/хинди chinese/mandarin/китайский japanese/японский korean/корейский thai/тайский irish/ирландский welsh swedish/шведский norwegian/норвежский danish/датский finnish/финский latin/латынь',
    ),
  },
  {
    topics: /^(?:activity|learning)/,
    values: valuesOf(
      'piano/пианино/фортепиано guitar/гитара violin/скрипка cello/виолончель ukulele/укулеле flute/флейта drums/барабан/барабаны bass/бас trumpet/труба saxophone/sax/саксофон clarinet/кларнет accordion/аккордеон banjo/банджо harp/арфа',
    ),
  },
  {
    topics: /^(?:activity|habit|my: (?:hobbi|sport|хобб))/,
    values: valuesOf(
      'tennis/теннис football/soccer/футбол basketball/баскетбол volleyball/волейбол hockey/хоккей rugby/регби golf/гольф badminton/бадминтон squash/сквош swimming/swim/плавание/бассейн running/run/jogging/бег/бегаю cycling/велоспорт climbing/скалолазание yoga/йога pilates/пилатес boxing/бокс judo/дзюдо karate/карате skiing/лыжи gym/зал/тренажерка dancing/танцы chess/шахматы rowing/гребля crossfit/кроссфит',
    ),
  },
  {
    topics: /^(?:drinks|habit)/,
    values: valuesOf('coffee/кофе tea/чай cocoa/какао matcha/матча'),
  },
  {
    topics: /^(?:drinks|habit)/,
    values: valuesOf('beer/пиво wine/вино whisky/whiskey/виски'),
  },
  {
    topics: /^(?:uses|my: (?:messeng|мессенджер))/,
    isGiven: true,
    common: termsOf('teams signal сигнал'),
    values: valuesOf(
      'slack/слак teams/тимс telegram/телеграм/телега whatsapp/ватсап/вотсап signal/сигнал discord/дискорд zoom/зум skype/скайп',
    ),
  },
  {
    topics: /^(?:uses|my: (?:browser|браузер))/,
    common: termsOf('edge opera опера brave'),
    values: valuesOf('firefox/фаерфокс/файрфокс chrome/хром safari/сафари edge/эдж opera/опера brave'),
  },
  {
    topics: /^(?:uses|my: (?:editor|редактор))/,
    values: valuesOf('vim/вим emacs vscode'),
  },
  {
    topics: /^uses/,
    common: termsOf('notion'),
    values: valuesOf('notion/ноушн evernote obsidian/обсидиан'),
  },
  {
    topics: /^(?:uses|my: (?:email|почт))/,
    isGiven: true,
    common: termsOf('outlook'),
    values: valuesOf('gmail/джимейл outlook/аутлук'),
  },
  {
    topics: /^favourite: (?:season|врем)/,
    cues: termsOf(
      'like love prefer most best favourite favorite think enjoy люблю больше нравится любимое предпочитаю пожалуй',
    ),
    values: valuesOf('spring/весна/весну summer/лето autumn/fall/осень winter/зима/зиму'),
  },
  {
    topics: /^favourite: (?:colou?r|цвет)/,
    cues: termsOf(
      'like love prefer most best favourite favorite think enjoy люблю больше нравится любимый предпочитаю пожалуй',
    ),
    values: valuesOf(
      'red/красный blue/синий green/зеленый yellow/желтый orange/оранжевый purple/violet/фиолетовый pink/розовый black/черный white/белый grey/gray/серый brown/коричневый turquoise/бирюзовый teal beige/бежевый burgundy/бордовый navy gold/золотой silver/серебряный lilac/сиреневый lavender/лавандовый mint/мятный',
    ),
  },
  {
    topics: /^my: (?:bank|банк)/,
    cues: termsOf('bank banking account card банк счет карта обслуживаюсь'),
    common: termsOf('chase discover first альфа точка'),
    values: valuesOf(
      'barclays hsbc lloyds natwest santander monzo revolut starling chase citibank citi nationwide halifax ing n26 wise сбер/сбербанк тинькофф/тбанк/тиньков альфа/альфабанк втб газпромбанк райффайзен росбанк озонбанк совкомбанк точка',
    ),
  },
  {
    topics: /^(?:uses|my: (?:stream|music|музык))/,
    values: valuesOf('spotify/спотифай deezer tidal netflix/нетфликс hulu кинопоиск окко иви'),
  },
  {
    topics: /^(?:uses|has|my: (?:consol|приставк))/,
    values: valuesOf('playstation/ps5/ps4/плейстейшен xbox/иксбокс nintendo/нинтендо'),
  },
  {
    topics: /^(?:uses|language|learning|my: (?:program|languag|язык))/,
    common: termsOf('go swift rust java ruby dart'),
    values: valuesOf(
      'python/питон javascript/джаваскрипт typescript/тайпскрипт java/джава kotlin/котлин rust/раст golang ruby/руби php/пхп scala swift',
    ),
  },
  {
    topics: /^(?:studies|my: (?:major|факультет|специальн)|learning)/,
    values: valuesOf(
      'biology/биология/биофак chemistry/химия/химфак physics/физика/физфак maths/math/mathematics/математика/мехмат economics/экономика/экономфак law/право/юрфак/юрист/юриспруденция medicine/медицина/медфак history/история/истфак philosophy/философия/философ psychology/психология/психфак engineering sociology/социология linguistics/лингвистика geography/география geology/геология architecture/архитектура journalism/журналистика/журфак accounting/бухучет marketing/маркетинг pharmacy/фармация nursing dentistry programming/программирование informatics/информатика',
    ),
  },
];
