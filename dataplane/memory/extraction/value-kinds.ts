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
  /** The values by stem; words of both languages and several spellings can name one value. */
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
    // Cities and things that are named like a club.
    common: termsOf(
      'liverpool ливерпуль newcastle sunderland leeds rubin рубин krasnodar краснодар barcelona барселона milan милан inter интер bayern бавария dortmund дортмунд dynamo динамо rangers',
    ),
    values: valuesOf(
      'chelsea/челси fulham/фулхэм arsenal/арсенал liverpool/ливерпуль everton/эвертон spurs/tottenham/тоттенхэм celtic rangers newcastle sunderland leeds spartak/спартак dynamo/динамо zenit/зенит cska/цска lokomotiv/локомотив rubin/рубин krasnodar/краснодар barcelona/барселона juventus/ювентус milan/милан inter/интер bayern/бавария dortmund/дортмунд',
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
];
