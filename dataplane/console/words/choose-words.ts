import { en, type Words } from './en.ts';
import { ru } from './ru.ts';

export const languages = { en, ru } as const satisfies Readonly<Record<string, Words>>;
export type Language = keyof typeof languages;

function isLanguage(text: string): text is Language {
  return Object.hasOwn(languages, text);
}

/**
 * The language that the person chose, else the first known language of Accept-Language (RFC 9110, 12.5.4), else
 * English.
 */
export function chooseLanguage(chosen: string | undefined, accepted: string | undefined): Language {
  if (chosen !== undefined && isLanguage(chosen)) return chosen;
  const wanted = (accepted ?? '')
    .split(',')
    .map((part) => {
      const [tag = '', quality = 'q=1'] = part.trim().split(';');
      return { base: tag.toLowerCase().split('-')[0] ?? '', weight: Number(quality.trim().replace('q=', '')) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight);
  for (const { base } of wanted) if (isLanguage(base)) return base;
  return 'en';
}
