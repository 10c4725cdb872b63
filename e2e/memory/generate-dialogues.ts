import { randomFrom } from '../support/random-from.ts';
import type { DialogueVoice, Lines } from './dialogue-lines.ts';
import { englishDialogue } from './english-dialogue.ts';
import { otherEnglishTalk, otherRussianTalk } from './other-small-talk.ts';
import { russianDialogue } from './russian-dialogue.ts';

/**
 * Dialogues of persons with an assistant, English and Russian, the same for the same seed. The rules of the extractor
 * were changed after these lines were known, so that the dialogues guard against regressions, but do not show how the
 * extractor reads other words. `stated` and `replaced` are spelled as the person wrote them (case and inflection
 * included), and each of these words occurs in exactly one message of its dialogue.
 */
export type GeneratedDialogue = {
  readonly language: 'en' | 'ru';
  readonly kind: 'facts' | 'contradiction' | 'small talk';
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[];
  readonly stated: readonly string[];
  readonly replaced: string | undefined;
};

type Message = GeneratedDialogue['messages'][number];
type Writer = {
  readonly voice: DialogueVoice;
  readonly random: () => number;
  readonly female: boolean;
  readonly style: string;
  readonly used: Set<string>;
};
type Sentence = { readonly text: string; readonly words: Lines };

type Voices = Readonly<Record<GeneratedDialogue['language'], DialogueVoice>>;
/** `usual` is the small talk of the voices, `other` that of `other-small-talk.ts`; the facts are the same. */
const voicesOf = {
  usual: { en: englishDialogue, ru: russianDialogue },
  other: { en: { ...englishDialogue, ...otherEnglishTalk }, ru: { ...russianDialogue, ...otherRussianTalk } },
} as const satisfies Readonly<Record<string, Voices>>;

const between = (random: () => number, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
const pick = (random: () => number, items: Lines): string => items[Math.floor(random() * items.length)] ?? '';
const ended = (text: string): string => (/[.!?)]$/u.test(text) ? text : `${text}.`);

/** An item that this dialogue has not used yet. */
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

/** A dialogue of the given number of turns, with the given sentences in their turns and ordinary chat in all others. */
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

/**
 * The word as it is spelled in the only message that contains it; undefined if no message or several messages contain
 * it.
 */
function spelled(messages: readonly Message[], word: string): string | undefined {
  const wanted = word.toLowerCase();
  const holders = messages.filter(({ content }) => content.toLowerCase().includes(wanted));
  if (holders.length !== 1) return undefined;
  const content = holders[0]?.content ?? '';
  const start = content.toLowerCase().indexOf(wanted);
  return content.slice(start, start + word.length);
}

/** One dialogue; undefined if its words are ambiguous. */
function attempt(
  random: () => number,
  { language, kind, voices }: Pick<GeneratedDialogue, 'language' | 'kind'> & { readonly voices: Voices },
): GeneratedDialogue | undefined {
  const voice = voices[language];
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

/**
 * Generates dialogues: facts first, then contradictions, then small talk; English and Russian alternately; no two
 * dialogues are equal.
 */
export function generateDialogues(
  seed: number,
  counts: { readonly facts: number; readonly contradictions: number; readonly smallTalk: number },
  talk: keyof typeof voicesOf = 'usual',
): readonly GeneratedDialogue[] {
  const random = randomFrom(seed);
  const seen = new Set<string>();
  const dialogues: GeneratedDialogue[] = [];
  const add = (kind: GeneratedDialogue['kind'], count: number): void => {
    for (let made = 0, tries = 0; made < count; tries += 1) {
      if (tries > count * 50) throw new Error(`too few different dialogues of the kind ${kind}`);
      const dialogue = attempt(random, { language: made % 2 === 0 ? 'en' : 'ru', kind, voices: voicesOf[talk] });
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
