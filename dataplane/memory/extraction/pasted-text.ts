import { introducesSpeech } from './reported-clauses.ts';

/** A part of a text, in UTF-16 units; the end is after its last unit. */
type Part = { readonly start: number; readonly end: number };

/**
 * The parts of a message that its writer pasted: fenced code, the content of tags such as `<memories>` and `[CONTEXT]`, the
 * lines below a heading such as "Relevant memories:", and the text of a request to translate or correct it. Programs add
 * recalled memories, instructions and results of tools to the messages of users in these forms. The parts are in order and
 * do not overlap. The time is in proportion to the text.
 */
export function pastedParts(text: string): readonly Part[] {
  const found = [
    ...fences(text),
    ...tagged(text, angled),
    ...tagged(text, squared),
    ...headed(text),
    ...spoken(text),
    ...requested(text),
  ];
  const parts: Part[] = [];
  for (const part of found.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = parts.at(-1);
    if (last === undefined || part.start >= last.end) parts.push(part);
    else if (part.end > last.end) parts[parts.length - 1] = { start: last.start, end: part.end };
  }
  return parts;
}

const fence = /^ {0,3}(`{3,}|~{3,})[^\n`]*$/gm;

/** Code between two fences, or from a fence without an end to the end of the text (CommonMark 0.31.2, fenced code blocks). */
function fences(text: string): readonly Part[] {
  const parts: Part[] = [];
  let open: { readonly start: number; readonly mark: string } | undefined;
  for (const { 0: line, 1: mark = '', index } of text.matchAll(fence)) {
    if (open === undefined) open = { start: index, mark };
    else if (mark.startsWith(open.mark)) {
      parts.push({ start: open.start, end: index + line.length });
      open = undefined;
    }
  }
  return open === undefined ? parts : [...parts, { start: open.start, end: text.length }];
}

const angled = /<(\/?)([a-z][\w-]{1,40})(?:\s[^<>]{0,200})?>/gi;
const squared = /\[(\/?)([a-z][\w -]{1,40})\]/gi;
/** Editors of chats send the message of a person in these tags. */
const formats = new Set(
  'em strong br span div font small sub sup mark del ins h1 h2 h3 h4 h5 h6 ul ol li body html url color size'.split(
    ' ',
  ),
);
/** Maximum number of open tags whose names are followed at a time. */
const mostOpen = 64;

function tagged(text: string, tag: RegExp): readonly Part[] {
  const parts: Part[] = [];
  const open = new Map<string, { readonly start: number; depth: number }>();
  for (const { 0: whole, 1: slash, 2: written = '', index } of text.matchAll(tag)) {
    const name = written.toLowerCase();
    const one = open.get(name);
    if (formats.has(name) || whole.endsWith('/>')) continue;
    if (slash === '') {
      if (one !== undefined) one.depth += 1;
      else if (open.size < mostOpen) open.set(name, { start: index, depth: 1 });
      continue;
    }
    if (one === undefined) continue;
    one.depth -= 1;
    if (one.depth > 0) continue;
    parts.push({ start: one.start, end: index + whole.length });
    open.delete(name);
  }
  return parts;
}

const noun =
  '(?:memor(?:y|ies)|(?:search|tool|function|retrieval) (?:results?|outputs?|calls?)|(?:conversation|chat|message|dialogue?) (?:history|log)|system (?:prompt|message|instructions?)|(?:user|customer) (?:profile|facts|context|info(?:rmation)?)|known facts|retrieved (?:facts|context|documents?)|facts about (?:the |this )?(?:user|person|customer)|what (?:I|we) know about (?:you|the user|him|her|them)|воспоминани[яй]|памят[ьи]|(?:известные )?факты о (?:пользователе|клиенте|человеке)|известные факты|результаты? (?:поиска|инструмент(?:а|ов)|вызова)|вывод инструмент(?:а|ов)|истори[яи] (?:диалога|чата|переписки|сообщений|разговора)|системный промпт|системное сообщение|профиль (?:пользователя|клиента)|что (?:я знаю|мы знаем) о (?:тебе|вас|пользователе))';
const before =
  '(?:(?:here|these|this|below|are|is|the|some|your|our|user|all|relevant|related|recalled|retrieved|stored|saved|known|existing|past|previous|earlier|recent|long[- ]term|вот|это|все|твои|ваши|мои|релевантные|найденные|сохран[её]нные|известные|прошлые|прежние|твоя|долговременная) ){0,5}';
const behind = '(?: (?:about|of|for|from|on|о|об|про) (?!me(?![\\p{L}])|myself|my |мне|себе|меня)[^\\n:]{1,40})?';
/** A heading alone on its line. Marks of Markdown and of plain text around the heading are ignored. */
const heading = new RegExp(`^[ \\t#*=_>-]{0,12}${before}${noun}${behind}[ \\t]*:?[ \\t#*=_-]{0,12}:?[ \\t]*$`, 'iu');
const longestHeading = 120;

/** A line of a dialogue that was copied: "[10:22] Anna: I live in Rome", "Anna (10:22): I live in Rome". */
const spokenAt =
  /^[ \t]*(?:\[?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?\]?,? [^\n:]{1,40}|[^\n:([]{1,40} [([]\d{1,2}[:.]\d{2}(?:[:.]\d{2})?[)\]]):\s/u;

/** The lines that programs put a time and a speaker before. */
function spoken(text: string): readonly Part[] {
  return [...linesOf(text)].filter(({ start, end }) =>
    spokenAt.test(text.slice(start, Math.min(end, start + longestHeading))),
  );
}

/** The lines below a heading of recalled text or after "Anna wrote:", up to the next blank line. */
function headed(text: string): readonly Part[] {
  const parts: Part[] = [];
  for (const { start, end } of linesOf(text)) {
    if (start < (parts.at(-1)?.end ?? 0) || end - start > longestHeading) continue;
    const line = text.slice(start, end).trimEnd();
    if (heading.test(line) || (line.endsWith(':') && introducesSpeech(line)))
      parts.push({ start, end: endOfParagraph(text, end) });
  }
  return parts;
}

/** The end of the first paragraph after a position; blank lines before it belong to it. */
function endOfParagraph(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charAt(at).trim() === '') at += 1;
  blankLine.lastIndex = at;
  return blankLine.exec(text)?.index ?? text.length;
}
const blankLine = /\r?\n[ \t]*\r?\n/g;

function* linesOf(text: string): Generator<Part, void, undefined> {
  let start = 0;
  for (const { index } of text.matchAll(/\n/g)) {
    yield { start, end: index };
    start = index + 1;
  }
  yield { start, end: text.length };
}

const written =
  '(?:essay|poem|letter|e-?mail|lyrics|song|dialogue?|transcript|text|article|passage|draft|script|sentences?|paragraphs?|message|translation|grammar|spelling|following|эссе|сочинение|стих(?:и|отворение)?|письмо|песня|песню|текст|диалог|статья|статью|отрывок|черновик|сценарий|предложени[ея]|абзац|сообщение|перевод|грамматику|ошибки)';
const ownWords = '[^\\n:.!?]';
const letterAhead = '(?![\\p{L}])';
const politely = '(?:(?:hi|hello|hey|please|can you|could you|would you|привет|пожалуйста|можешь|можете)[\\s,!]+){0,3}';
const rewording =
  '(?:translate|proofread|rephrase|paraphrase|summari[sz]e|переведи(?:те)?|перефразируй(?:те)?|перескажи(?:те)?)';
const working =
  '(?:correct|edit|rewrite|improve|fix|check|analy[sz]e|read|исправь(?:те)?|проверь(?:те)?|отредактируй(?:те)?|перепиши(?:те)?|сократи(?:те)?|улучши(?:те)?|прочитай(?:те)?)';
/**
 * Requests such as "Translate this:", "Correct my essay:", "Here is a poem:"; but "Fix my address:" is about the
 * writer.
 */
const request = new RegExp(
  `^(?:${politely}(?:${rewording}${letterAhead}${ownWords}{0,80}|${working} ${ownWords}{0,60}(?<![\\p{L}])${written}${letterAhead}${ownWords}{0,40})` +
    `|(?:here (?:is|['’]s|are)|this is|вот|это) (?:(?:an?|the|my|our|some|мой|моя|мое|моё|наш|наша|одно|один) )?(?:\\p{L}+ )?(?:${written}|(?<!my |мой )(?:story|рассказ))${letterAhead}${ownWords}{0,60}):`,
  'iu',
);
/** Characters of a line in which a request is searched. */
const longestRequest = 300;

/** The text after a request to process it extends to the end of the message. */
function requested(text: string): readonly Part[] {
  for (const { start, end } of linesOf(text)) {
    const [found] = request.exec(text.slice(start, Math.min(end, start + longestRequest))) ?? [];
    if (found !== undefined) return [{ start: start + found.length - 1, end: text.length }];
  }
  return [];
}
