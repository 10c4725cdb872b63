import { englishCorrections, englishValues } from './english-corrections.ts';
import { russianCorrections, russianValues } from './russian-corrections.ts';

/** A person states a fact and corrects it later, among other messages. */
type CorrectionDialogue = {
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  /** The value that was stated first, in lower case. */
  readonly old: string;
  /** Position of the message that corrects it. */
  readonly correctedAt: number;
};

const voices = {
  en: {
    corrections: englishCorrections,
    values: englishValues,
    leads: [
      '',
      '',
      '',
      'Hey! ',
      'quick update - ',
      'Oh wait, ',
      'thanks. ',
      'Good morning, ',
      'one more thing: ',
      'Hmm ok, ',
      'ah yes and ',
    ],
    tails: [
      '',
      '',
      '',
      '',
      ' 🙂',
      '!',
      '...',
      ', just saying',
      '. How do I get there?',
      '. Thanks!',
      ', by the way',
      '. Anyway, what about dinner?',
    ],
    chat: [
      'What is a prime number?',
      'thanks a lot',
      'Write a haiku about rain',
      'that looks good',
      'ok',
      'Why do cats purr?',
      'no, try again',
    ],
    replies: ['Of course.', 'Here is an example.', 'I will remember that.', 'Noted! Anything else?'],
  },
  ru: {
    corrections: russianCorrections,
    values: russianValues,
    leads: [
      '',
      '',
      '',
      'Привет! ',
      'кстати, ',
      'ой, забыла сказать: ',
      'спасибо. ',
      'Слушай, ',
      'маленькое уточнение: ',
      'хм, ',
      'да, и ',
    ],
    tails: [
      '',
      '',
      '',
      '',
      ' 🙂',
      '!',
      '...',
      ', если что',
      '. Как туда доехать?',
      '. Спасибо!',
      ', кстати',
      '. А что на ужин?',
    ],
    chat: [
      'Что такое простое число?',
      'большое спасибо',
      'Напиши хокку о дожде',
      'так хорошо',
      'ок',
      'Почему кошки мурчат?',
      'нет, давай еще раз',
    ],
    replies: ['Конечно.', 'Вот пример.', 'Я запомню.', 'Понял! Что-нибудь еще?'],
  },
} as const;

/** One dialogue, determined by `random`, which returns numbers from 0 to below 1. */
export function correctionDialogue(language: keyof typeof voices, random: () => number): CorrectionDialogue {
  const { corrections, values, leads, tails, chat, replies } = voices[language];
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const { pool, told, corrected } = pick(corrections);
  const old = pick(values[pool]);
  const other = pick(values[pool].filter((value) => value !== old));
  const typed = styles[Math.floor(random() * styles.length)] ?? same;
  const say = (template: string): string =>
    typed(`${pick(leads)}${template.replaceAll('#', old).replaceAll('@', other)}${pick(tails)}`);
  const chatter = (): readonly string[] => (random() < 0.5 ? [] : [pick(chat)]);
  const before = [...chatter(), say(pick(told)), ...chatter()];
  const lines = [...before, say(pick(corrected)), ...chatter()];
  const messages = lines.flatMap((content) => [
    { role: 'user', content } as const,
    { role: 'assistant', content: pick(replies) } as const,
  ]);
  return { messages, old: old.toLowerCase(), correctedAt: 2 * before.length };
}

const same = (text: string): string => text;
/** The ways in which persons type: carefully, in small letters, without commas, with short forms. */
const styles: readonly ((text: string) => string)[] = [
  (text) => text.charAt(0).toUpperCase() + text.slice(1),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(',', ''),
  (text) =>
    text
      .replaceAll('I am ', "I'm ")
      .replaceAll('I have moved', "I've moved")
      .replaceAll('do not', "don't")
      .replaceAll(' - ', ' — '),
  (text) => text.replaceAll('I am ', 'im ').replaceAll('do not', 'dont').toLowerCase().replaceAll(',', ''),
];
