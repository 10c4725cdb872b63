/** Words for a day, a week, a month or a year that are counted from the day on which they were said. */
type DateWords = {
  readonly pattern: RegExp;
  readonly date: (match: readonly (string | undefined)[], said: Date) => string | undefined;
};

const numbers: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{
    один: 1,
    одну: 1,
    два: 2,
    две: 2,
    три: 3,
    четыре: 4,
    пять: 5,
    шесть: 6,
    семь: 7,
    восемь: 8,
    девять: 9,
    десять: 10,
  },
};
const englishDays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const russianDays = ['воскресень', 'понедельник', 'вторник', 'сред', 'четверг', 'пятниц', 'суббот'];

const number = '(\\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten)';
const russianNumber = '(\\d{1,3}|один|одну|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять)';
const end = '(?![\\p{L}])(?! \\()';
const begin = '(?<![\\p{L}])';
const words = (pattern: string): RegExp => new RegExp(`${begin}(?:${pattern})${end}`, 'giu');

const table: readonly DateWords[] = [
  { pattern: words('(?:the )?day before yesterday|позавчера'), date: (_, said) => day(said, -2) },
  { pattern: words('(?:the )?day after tomorrow|послезавтра'), date: (_, said) => day(said, 2) },
  { pattern: words('yesterday|last night|вчера'), date: (_, said) => day(said, -1) },
  { pattern: words('tomorrow|завтра'), date: (_, said) => day(said, 1) },
  { pattern: words('today|tonight|this morning|сегодня'), date: (_, said) => day(said, 0) },
  {
    pattern: words(`${number} (day|week|month|year)s? ago`),
    date: ([, count, unit], said) => counted(said, count, unit, -1),
  },
  {
    pattern: words(`in ${number} (day|week|month|year)s?`),
    date: ([, count, unit], said) => counted(said, count, unit, 1),
  },
  {
    pattern: words(`${russianNumber} (дн|день|недел|месяц|год|лет)\\p{L}* назад`),
    date: ([, count, unit], said) => counted(said, count, unit, -1),
  },
  {
    pattern: words(`через ${russianNumber} (дн|день|недел|месяц|год|лет)\\p{L}*`),
    date: ([, count, unit], said) => counted(said, count, unit, 1),
  },
  { pattern: words('(день|неделю|месяц|год) назад'), date: ([, unit], said) => counted(said, '1', unit, -1) },
  { pattern: words('через (день|неделю|месяц|год)'), date: ([, unit], said) => counted(said, '1', unit, 1) },
  {
    pattern: words('(last|next|this) (week|month|year)'),
    date: ([, way, unit], said) => period(said, unit, wayOf(way)),
  },
  {
    pattern: words('на (прошлой|следующей|этой) (неделе)'),
    date: ([, way, unit], said) => period(said, unit, wayOf(way)),
  },
  {
    pattern: words('в (прошлом|следующем|этом) (месяце|году)'),
    date: ([, way, unit], said) => period(said, unit, wayOf(way)),
  },
  {
    pattern: words(`(last|next|this) (${englishDays.join('|')})`),
    date: ([, way, name], said) => weekday(said, englishDays.indexOf((name ?? '').toLowerCase()), wayOf(way)),
  },
  {
    pattern: words(`(?:в|во) (прошл|следующ|эт)\\p{L}+ (${russianDays.join('|')})\\p{L}*`),
    date: ([, way, name], said) => weekday(said, russianDays.indexOf((name ?? '').toLowerCase()), wayOf(way)),
  },
];

/**
 * Adds the dates of relative words to a text, each after its words: "yesterday (2026-05-01)". A date that the text
 * already contains is not added again.
 * @param said when the text was said; its UTC fields are the calendar of the speaker
 */
export function resolveDates(text: string, said: Date): string {
  return table.reduce(
    (resolved, { pattern, date }) =>
      resolved.replace(pattern, (found: string, ...groups: readonly (string | undefined)[]) => {
        const written = date([found, ...groups], said);
        return written === undefined ? found : `${found} (${written})`;
      }),
    text,
  );
}

function shifted(said: Date, days: number): Date {
  const moved = new Date(said);
  moved.setUTCDate(said.getUTCDate() + days);
  return moved;
}

function day(said: Date, days: number): string | undefined {
  return written(shifted(said, days), 'yyyy-mm-dd'.length);
}

function month(said: Date, months: number): string | undefined {
  const moved = new Date(said);
  moved.setUTCMonth(said.getUTCMonth() + months, 1);
  return written(moved, 'yyyy-mm'.length);
}

function year(said: Date, years: number): string | undefined {
  const moved = new Date(said);
  moved.setUTCFullYear(said.getUTCFullYear() + years, 0, 1);
  return written(moved, 'yyyy'.length);
}

/** The beginning of a date of ISO 8601; undefined for a year that does not have four digits. */
function written(date: Date, length: number): string | undefined {
  return date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9_999 ? date.toISOString().slice(0, length) : undefined;
}

function wayOf(word: string | undefined): -1 | 0 | 1 {
  if (/^(?:last|прошл)/i.test(word ?? '')) return -1;
  return /^(?:next|следующ)/i.test(word ?? '') ? 1 : 0;
}

function unitOf(word: string | undefined): 'day' | 'week' | 'month' | 'year' {
  if (/^(?:day|дн|день)/i.test(word ?? '')) return 'day';
  if (/^(?:week|недел)/i.test(word ?? '')) return 'week';
  return /^(?:month|месяц)/i.test(word ?? '') ? 'month' : 'year';
}

function counted(said: Date, count: string | undefined, unit: string | undefined, way: -1 | 1): string | undefined {
  const many = way * (numbers[(count ?? '').toLowerCase()] ?? Number(count));
  if (!Number.isFinite(many)) return undefined;
  switch (unitOf(unit)) {
    case 'day':
      return day(said, many);
    case 'week':
      return day(said, 7 * many);
    case 'month':
      return month(said, many);
    case 'year':
      return year(said, many);
  }
}

function period(said: Date, unit: string | undefined, way: -1 | 0 | 1): string | undefined {
  switch (unitOf(unit)) {
    case 'week': {
      const monday = day(said, -((said.getUTCDay() + 6) % 7) + 7 * way);
      return monday && `week of ${monday}`;
    }
    case 'month':
      return month(said, way);
    default:
      return year(said, way);
  }
}

/**
 * The last such weekday before the day, the first such weekday after it, or the one in its week, which begins on
 * Monday.
 */
function weekday(said: Date, wanted: number, way: -1 | 0 | 1): string | undefined {
  if (wanted < 0) return undefined;
  const distance = (wanted - said.getUTCDay() + 7) % 7;
  if (way === 1) return day(said, distance === 0 ? 7 : distance);
  if (way === -1) return day(said, distance === 0 ? -7 : distance - 7);
  return day(said, ((wanted + 6) % 7) - ((said.getUTCDay() + 6) % 7));
}
