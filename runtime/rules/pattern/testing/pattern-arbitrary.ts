import fc from 'fast-check';

/** Atoms that cover each row of RE2's syntax, including the refused rows. */
const ATOMS = [
  ...[
    'a',
    'b',
    'K',
    's',
    '.',
    '^',
    '$',
    '-',
    '/',
    '{',
    '}',
    ']',
    ':',
    ',',
    '1',
    ' ',
    '\n',
    'é',
    'я',
    'Я',
    'ſ',
    'K',
    '😀',
    '\u0000',
  ],
  ...[
    '\\d',
    '\\D',
    '\\s',
    '\\S',
    '\\w',
    '\\W',
    '\\b',
    '\\B',
    '\\A',
    '\\z',
    '\\Z',
    '\\C',
    '\\pL',
    '\\pN',
    '\\PN',
    '\\p{Greek}',
  ],
  ...[
    '\\p{^Greek}',
    '\\P{Lu}',
    '\\p{Any}',
    '\\P{Any}',
    '\\p{Script=Greek}',
    '\\p{Letter}',
    '\\p{Emoji}',
    '\\p{',
    '\\p',
    '\\pé',
  ],
  ...[
    '\\n',
    '\\t',
    '\\x41',
    '\\x{44f}',
    '\\x{110000}',
    '\\x{}',
    '\\x4',
    '\\0',
    '\\01',
    '\\12',
    '\\1',
    '\\8',
    '\\Q/(?<\\E',
    '\\Q.*',
  ],
  ...[
    '\\E',
    '\\u0041',
    '\\u{41}',
    '\\cA',
    '\\c',
    '\\k<n>',
    '\\.',
    '\\/',
    '\\-',
    '\\_',
    '\\é',
    '\\',
    '\\h',
    '\\a',
    '\\v',
    '\\f',
  ],
  ...[
    '[abc]',
    '[^abc]',
    '[a-z]',
    '[z-a]',
    '[]a]',
    '[^]a]',
    '[a-]',
    '[-a]',
    '[a\\d-z]',
    '[\\d-\\w]',
    '[/(?<n>]',
    '[\\!-(?<]',
  ],
  ...[
    '[[:alpha:]]',
    '[[:^word:]]',
    '[[:foo:]]',
    '[[:alpha]',
    '[\\p{Lu}\\P{Any}]',
    '[\\P{Any}]',
    '[^\\p{Any}]',
    '[\\b]',
    '[\\Qa]',
  ],
  ...[
    '[\\x{430}-\\x{44f}]',
    '[а-яё]',
    '[^\\W\\d]',
    '[[:upper:]k]',
    '[^k]',
    '[',
    '[]',
    '[^]',
    '[a',
    '(',
    ')',
    '|',
    '(?',
  ],
];

const OPENINGS = ['(', '(?:', '(?i:', '(?P<n>', '(?<m>', '(?s-i:', '(?U:', '(?m:', '(?ims-U:'];
const BROKEN = [
  '(?=',
  '(?!',
  '(?<=',
  '(?<!',
  '(?>',
  '(?#',
  '(?P=n)',
  '(?P<>',
  '(?<n',
  '(?-)',
  '(?i-:',
  '(?x)',
  '(?P<a b>',
];
const SWITCHES = ['(?i)', '(?-i)', '(?s)', '(?m)', '(?U)', '(?)', '(?i-s)'];
const REPEATS = [
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{2,}',
  '{0,3}',
  '{1,2}?',
  '{0}',
  '{,2}',
  '{2,1}',
  '{1001}',
  '{40}',
  '{01}',
  '{1000}',
];

/** Patterns built from the rows of the syntax: most are well-formed, but a sufficient number is invalid. */
export const patternText: fc.Arbitrary<string> = fc.letrec<{
  node: string;
  atom: string;
  group: string;
  repeat: string;
  either: string;
  sequence: string;
}>((tie) => ({
  atom: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...ATOMS) },
    { weight: 1, arbitrary: fc.constantFrom(...SWITCHES, ...BROKEN) },
  ),
  group: fc.tuple(fc.constantFrom(...OPENINGS), tie('node')).map(([opening, inner]) => `${opening}${inner})`),
  repeat: fc
    .tuple(fc.oneof(tie('atom'), tie('group')), fc.constantFrom(...REPEATS))
    .map(([inner, count]) => inner + count),
  either: fc.tuple(tie('node'), tie('node')).map(([left, right]) => `${left}|${right}`),
  sequence: fc.array(tie('node'), { maxLength: 3 }).map((parts) => parts.join('')),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    tie('atom'),
    tie('repeat'),
    tie('sequence'),
    tie('group'),
    tie('either'),
  ),
})).node;

/** Texts of the characters that occur in the generated patterns. */
export const matchableText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...Array.from('abkKsS-/ 19\nAZ_éЯяΩωſK😀.({[]\u0000'), 'ab', '/(?<'), { maxLength: 14 })
  .map((parts) => parts.join(''));

/** Compiling a pattern takes far longer than matching: a property tries several texts for each pattern. */
export const severalTexts = fc.array(matchableText, { minLength: 8, maxLength: 8 });
