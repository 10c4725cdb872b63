const subject = '(?:I|we|you|he|she|it|they|that|this|there)';
const verb = '(?:am|is|are|was|were|do|does|did|have|has|had|can|could|will|would|shall|should|must|ai|wo|ca|sha)';
const negatedVerb = `${verb}(?:n['’]?t| not)`;
/** "Oslo is my home" is a statement: after these verbs "my" begins no question. */
const copula = '(?:am|is|are|was|were)';
const agreement = "(?:right|correct|true|yes|yeah|no|eh|huh|okay|ok|isn['’]?t that so|am I right)";
const russianAgreement =
  '(?:да|нет|а|верно|правильно|правда|точно|так|ведь так|разве нет|не так ли|не правда ли|я прав[а]?)';
const inverted = `(?:${verb}|${negatedVerb}) ${subject}(?: not)?(?: (?:right|correct|true|so|wrong))?`;
const tag = `(?:${inverted}|${agreement}|${russianAgreement})`;

const tagAlone = new RegExp(`^(?:or |или )?${tag}[\\s?!.]*$`, 'iu');
const tagBehindMark = new RegExp(`[,–—-]\\s*(?:or |или )?${tag}[\\s?!]*$`, 'iu');
/** A tag question without a question mark, in the forms that have no other meaning: "I turn right" is a statement. */
const tagBehindBlank = new RegExp(`\\s(?:${negatedVerb} ${subject}|не так ли|не правда ли|разве нет)[\\s?!]*$`, 'iu');
/** Maximum length of a tag question, so that the rest of a sentence is not searched. */
const longestTag = 40;

/** Whether a sentence only asks for a confirmation of the previous sentence: "Right?", "Isn't it?", "Не так ли?" */
export function isTagQuestion(sentence: string): boolean {
  return sentence.length <= longestTag && tagAlone.test(sentence.trim());
}

/** Whether a sentence ends with a tag question, with or without a question mark: "I live in Paris, don't I". */
export function endsWithTag(sentence: string): boolean {
  const end = sentence.trimEnd().slice(-longestTag);
  return tagBehindMark.test(end) || tagBehindBlank.test(end);
}

/** The beginning of a question with a verb before its subject, or of a question with a question word after a comma. */
const questionStart = new RegExp(
  `[\\s,–—-]+(?=(?:${verb}|${negatedVerb}) (?:${subject}|the|an?|your|these|those|any|people)(?![\\p{L}])|(?!${copula} )(?:${verb}|${negatedVerb}) (?:my|our)(?![\\p{L}])|(?:можно|можешь|можете|есть ли|\\p{L}{2,12} ли|это \\p{L}+\\s*$))` +
    '|(?:,\\s*|\\s[–—-]\\s)(?=(?:what|how|why|who|when|any|какой|какая|какое|какие|какую|сколько|почему|зачем|кто|как)(?![\\p{L}]))',
  'giu',
);
/** A longer sentence is a question as a whole. */
const longestSentence = 300;
/** A statement after these words is an assumption, and a statement before "or" is an alternative. */
const assumed =
  /(?<![\p{L}])(?:(?:if|suppose|supposing|imagine|say|assume|assuming|pretend|если|допустим|предположим|представь|представьте|представим)(?![\p{L}])|(?:or|или)$)/iu;

/**
 * The place where the question of a sentence with a question mark begins, if a statement precedes it: "I live in Paris,
 * can you recommend a museum?" Undefined if the whole sentence is a question, even one with a tag.
 */
export function questionAfterStatement(sentence: string): { readonly from: number; readonly to: number } | undefined {
  if (sentence.length > longestSentence || endsWithTag(sentence)) return undefined;
  for (const { 0: gap, index } of sentence.matchAll(questionStart)) {
    const before = sentence.slice(0, index).trim();
    if (before === '' || assumed.test(before)) continue;
    if (isTagQuestion(sentence.slice(index + gap.length))) return undefined;
    return { from: index, to: index + gap.length };
  }
  return undefined;
}
