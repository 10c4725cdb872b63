import type { Random } from './random.ts';

/** Short terms that a rule matches as whole tokens only. */
export const tokens = ['cat', 'art', 'кот', 'он', 'id', 'ass'] as const;

/** Words that contain one of the short terms at the end, at the start or inside; no token rule may match them. */
const words = [
  'concatenate',
  'tomcat',
  'cathedral',
  'start',
  'artist',
  'который',
  'скот',
  'котёл',
  'телефон',
  'закон',
  'онлайн',
  'idea',
  'valid',
  'assembly',
  'class',
  'compass',
] as const;

const gaps = [' ', ', ', '. ', ' — ', '\n'] as const;

/** Clean text of about this many bytes in which a cut of a word can produce a token. */
export function tokenText(random: Random, bytes: number): string {
  let text = '';
  while (Buffer.byteLength(text) < bytes) text += random.pick(words) + random.pick(gaps);
  return text;
}
