import { bodyText, goodMessage, marker, type Stage, type StrictCase } from './strict-case.ts';

/** Texts that are not JSON in the sense of RFC 8259; `M` stands for a right message. */
const syntax: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['white space', ' \r\n\t'],
  ['a word', 'body'],
  ['a comment', '{/* */}'],
  ['a line comment', '{}//'],
  ['an open object', '{'],
  ['an open array', '{"body":['],
  ['an open string', '{"body":"'],
  ['a wrong bracket', '{"body":[}'],
  ['a comma too many in an object', '{"body":{},}'],
  ['a comma too many in an array', '{"body":[1,]}'],
  ['two commas', '{"body":[1,,2]}'],
  ['a leading comma', '{,"body":{}}'],
  ['a missing colon', '{"body"{}}'],
  ['two colons', '{"body"::{}}'],
  ['a missing value', '{"body":}'],
  ['a missing comma', '{"body":1 "other":2}'],
  ['a key without quotes', '{body:{}}'],
  ['single quotes', "{'body':{}}"],
  ['a number as key', '{1:{}}'],
  ['a value after the value', '{"body":{}}{}'],
  ['text after the value', '{"body":{}} x'],
  ['a NUL after the value', '{"body":{}}\u0000'],
  ['NaN', '{"body":NaN}'],
  ['Infinity', '{"body":Infinity}'],
  ['minus Infinity', '{"body":-Infinity}'],
  ['undefined', '{"body":undefined}'],
  ['True', '{"body":True}'],
  ['nul', '{"body":nul}'],
  ['truefalse', '{"body":truefalse}'],
  ['a leading zero', '{"body":01}'],
  ['a negative leading zero', '{"body":-01}'],
  ['a plus sign', '{"body":+1}'],
  ['a bare minus', '{"body":-}'],
  ['a bare point before', '{"body":.5}'],
  ['a bare point behind', '{"body":5.}'],
  ['an empty exponent', '{"body":1e}'],
  ['an exponent with two signs', '{"body":1e+-1}'],
  ['hexadecimal', '{"body":0x1F}'],
  ['an underscore in a number', '{"body":1_000}'],
  ['a big integer', '{"body":1n}'],
  ['an escape that does not exist', '{"body":"\\x41"}'],
  ['an escaped new line', '{"body":"\\\n"}'],
  ['an octal escape', '{"body":"\\101"}'],
  ['a short unicode escape', '{"body":"\\u004"}'],
  ['a unicode escape of no hexadecimal', '{"body":"\\u00zz"}'],
  ['a long unicode escape', '{"body":"\\u{41}"}'],
  ['a lone high surrogate', '{"body":"\\ud800"}'],
  ['a lone low surrogate', '{"body":"\\udc00"}'],
  ['surrogates in the wrong order', '{"body":"\\udc00\\ud800"}'],
  ['a high surrogate before a letter', '{"body":"\\ud83dx"}'],
  ['a high surrogate in a key', '{"\\ud83d":1}'],
  ['a tab in a string', '{"body":"a\tb"}'],
  ['a new line in a string', '{"body":"a\nb"}'],
  ['a NUL in a string', '{"body":"a\u0000b"}'],
  ['an escape character in a string', '{"body":"a\u001bb"}'],
  ['a form feed as white space', '{\f"body":{}}'],
  ['a no-break space as white space', '{\u00a0"body":{}}'],
  ['a byte order mark', '\ufeff{"body":{}}'],
  ['65 levels of arrays', `{"body":${'['.repeat(65)}${']'.repeat(65)}}`],
  ['10,000 levels of arrays', '['.repeat(10_000)],
  ['65 levels of objects', `${'{"a":'.repeat(66)}1${'}'.repeat(66)}`],
];

/** Keys that stand twice, at every level and in every disguise. */
function duplicates(stage: Stage): readonly (readonly [string, string])[] {
  const list = stage === 'request' ? 'messages' : 'choices';
  const good = bodyText(stage, [goodMessage]);
  const inner = good.slice('{"body":'.length, -1);
  const of = (message: string): string => bodyText(stage, [message]);
  return [
    ['body', `{"body":${inner},"body":${inner}}`],
    ['body in escapes', `{"body":${inner},"b\\u006fdy":${inner}}`],
    [list, `{"body":{${inner.slice(1, -1)},${inner.slice(1, -1)}}}`],
    ['role', of(`{"role":"user","role":"user","content":"${marker}"}`)],
    ['content', of(`{"role":"user","content":"${marker}","content":"${marker}"}`)],
    ['content in escapes', of(`{"role":"user","content":"a","c\\u006Fntent":"${marker}"}`)],
    ['content in the second message', bodyText(stage, [goodMessage, '{"role":"a","content":"b","content":"c"}'])],
    ['an unknown key', of(`{"role":"user","content":"a","x":1,"x":2}`)],
    ['__proto__', of('{"role":"user","content":"a","__proto__":1,"__proto__":2}')],
    ['the empty key', '{"":1,"":2}'],
    ['a key of an emoji, once in escapes', '{"\u{1f600}":1,"\\ud83d\\ude00":2}'],
    ['a key inside of an array', '{"body":[[{"a":1,"a":1}]]}'],
  ];
}

/** Byte sequences that are not UTF-8, in hexadecimal. */
const invalidUtf8: readonly (readonly [string, string])[] = [
  ['a lone continuation byte', '80'],
  ['a lone continuation byte of the end', 'bf'],
  ['two continuation bytes', '8080'],
  ['a start of two bytes alone', 'c3'],
  ['a start of two bytes before a letter', 'c341'],
  ['a start of three bytes with one', 'e282'],
  ['a start of four bytes with two', 'f09f98'],
  ['an overlong slash of two bytes', 'c0af'],
  ['an overlong NUL of two bytes', 'c080'],
  ['an overlong letter of two bytes', 'c1bf'],
  ['an overlong slash of three bytes', 'e080af'],
  ['an overlong slash of four bytes', 'f08080af'],
  ['an encoded high surrogate', 'eda080'],
  ['an encoded low surrogate', 'edb080'],
  ['an encoded pair of surrogates', 'eda0bdedb880'],
  ['a code point above the last', 'f4908080'],
  ['a start of five bytes', 'f888808080'],
  ['a start of six bytes', 'fc8480808080'],
  ['the byte FE', 'fe'],
  ['the byte FF', 'ff'],
  ['a byte order mark of UTF-16', 'feff'],
  ['Latin-1', 'e9'],
];

function withBytes(stage: Stage, where: 'content' | 'role' | 'key', hex: string): Buffer {
  const hole = '\u0001';
  const message = {
    content: `{"role":"user","content":"${hole}"}`,
    role: `{"role":"${hole}","content":"${marker}"}`,
    key: `{"role":"user","content":"${marker}","${hole}":1}`,
  }[where];
  const [before = '', after = ''] = bodyText(stage, [message]).split(hole);
  return Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]);
}

const refused = { status: 400, code: 'invalid_json' } as const;

/** Bodies that are no strict JSON in UTF-8: 400 invalid_json. */
export function malformedJson(stage: Stage): readonly StrictCase[] {
  return [
    ...syntax.map(([name, text]) => ({ name: `syntax: ${name}`, bytes: bytesOf(text), ...refused })),
    ...duplicates(stage).map(([name, text]) => ({ name: `twice: ${name}`, bytes: bytesOf(text), ...refused })),
    ...invalidUtf8.flatMap(([name, hex]) =>
      (['content', 'role', 'key'] as const).map((where) => ({
        name: `UTF-8: ${name} in ${where}`,
        bytes: ({ withBody }: Parameters<StrictCase['bytes']>[0]) => withBody(withBytes(stage, where, hex)),
        ...refused,
      })),
    ),
  ];
}

function bytesOf(text: string): StrictCase['bytes'] {
  return ({ withBody }) => withBody(text);
}
