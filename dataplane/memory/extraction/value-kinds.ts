import { analyse } from '#search/analysis/analyse';

/** A kind of values, of which one can take the place of another one. */
export type ValueKind = {
  /** Topics of memories that state such a value; absent for times, which anything can have. */
  readonly topics?: RegExp;
  /** Others give such things: "they gave us Macs". */
  readonly isGiven?: true;
  /** By stem: the value, which words of both languages and of several spellings can name. */
  readonly values: ReadonlyMap<string, string>;
};

/** @param words the values, with the spellings of one value between slashes */
function valuesOf(words: string): ReadonlyMap<string, string> {
  const groups = words.split(' ').map((group) => group.split('/'));
  const named = groups.flatMap((spellings) => spellings.map((word) => [word, spellings[0] ?? word] as const));
  return new Map(named.flatMap(([word, value]) => analyse(word).map((stem) => [stem, value] as const)));
}

/** The values that the rules know: others are known only by the words around them. */
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
    isGiven: true,
    values: valuesOf(
      'toyota/тойота honda/хонда mazda/мазда nissan/ниссан leaf/лиф kia/киа hyundai/хендай/хундай volvo/вольво ford/форд fiesta/фиеста focus/фокус golf/гольф volkswagen/vw/фольксваген polo/поло bmw/бмв audi/ауди mercedes/мерседес skoda/шкода octavia/октавия seat renault/рено peugeot/пежо citroen/ситроен fiat/фиат opel/опель vauxhall mini/мини tesla/тесла lada/лада lexus/лексус subaru/субару suzuki/сузуки jeep/джип chevrolet/шевроле porsche/порше haval/хавал chery/чери geely/джили prius/приус corolla/королла civic yaris clio jaguar',
    ),
  },
  {
    topics: /^(?:my: (?:phone|mobil|smartphon|телефон|смартфон|мобильн)|uses|has)/,
    isGiven: true,
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
    values: valuesOf(
      'chelsea/челси fulham/фулхэм arsenal/арсенал liverpool/ливерпуль everton/эвертон spurs/tottenham/тоттенхэм celtic rangers newcastle sunderland leeds spartak/спартак dynamo/динамо zenit/зенит cska/цска lokomotiv/локомотив rubin/рубин krasnodar/краснодар barcelona/барселона juventus/ювентус milan/милан inter/интер bayern/бавария dortmund/дортмунд',
    ),
  },
  {
    topics: /^(?:learning|studies)/,
    values: valuesOf(
      'english/английский german/немецкий french/французский spanish/испанский italian/итальянский portuguese/португальский dutch/голландский/нидерландский polish/польский czech/чешский russian/русский ukrainian/украинский greek/греческий turkish/турецкий arabic/арабский hebrew/иврит hindi/хинди chinese/mandarin/китайский japanese/японский korean/корейский thai/тайский irish/ирландский welsh swedish/шведский norwegian/норвежский danish/датский finnish/финский latin/латынь python/питон rust java',
    ),
  },
  {
    topics: /^(?:activity|learning)/,
    values: valuesOf(
      'piano/пианино/фортепиано guitar/гитара violin/скрипка cello/виолончель ukulele/укулеле flute/флейта drums/барабан/барабаны bass/бас trumpet/труба saxophone/sax/саксофон clarinet/кларнет accordion/аккордеон banjo/банджо harp/арфа',
    ),
  },
  {
    topics: /^(?:activity|habit|taste|my: (?:hobbi|sport|хобб))/,
    values: valuesOf(
      'tennis/теннис football/soccer/футбол basketball/баскетбол volleyball/волейбол hockey/хоккей rugby/регби golf/гольф badminton/бадминтон squash/сквош swimming/swim/плавание/бассейн running/run/jogging/бег/бегаю cycling/велоспорт climbing/скалолазание yoga/йога pilates/пилатес boxing/бокс judo/дзюдо karate/карате skiing/лыжи gym/зал/тренажерка dancing/танцы chess/шахматы rowing/гребля crossfit/кроссфит',
    ),
  },
  {
    topics: /^(?:drinks|taste|habit)/,
    values: valuesOf('coffee/кофе tea/чай cocoa/какао matcha/матча beer/пиво wine/вино whisky/whiskey/виски juice/сок'),
  },
  {
    topics: /^(?:uses|my: (?:browser|email|messeng|editor|браузер|почт|мессенджер|редактор))/,
    isGiven: true,
    values: valuesOf(
      'slack/слак teams/тимс telegram/телеграм/телега whatsapp/ватсап/вотсап signal/сигнал discord/дискорд zoom/зум skype/скайп firefox/фаерфокс/файрфокс chrome/хром safari/сафари edge/эдж opera/опера brave vim/вим emacs vscode notion/ноушн evernote obsidian/обсидиан gmail/джимейл outlook/аутлук',
    ),
  },
];
