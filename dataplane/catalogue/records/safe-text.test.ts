import { describe, expect, test } from 'vitest';
import { safeId, safeText } from './safe-text.ts';

const safe = (text: string): string => safeText(text, 2_000);

describe('characters that a reader does not see', () => {
  test('no code point that is ignorable by default stays in a text', () => {
    const ignorable = /\p{Default_Ignorable_Code_Point}/u;
    const left: string[] = [];
    for (let point = 0; point <= 0x10_ff_ff; point += 1) {
      const character = String.fromCodePoint(point);
      if (ignorable.test(character) && !/^a ?b$/.test(safe(`a${character}b`))) left.push(point.toString(16));
    }
    expect(left).toEqual([]);
  });

  test.each([
    ['a text in variation selectors', 'Pay\u{e0100}\u{e01ef}\u{fe00}roll', 'Payroll'],
    ['a joiner of graphemes', 'Pay\u034froll', 'Payroll'],
    ['a filler of Hangul', 'Pay\u3164roll\u115f\uffa0', 'Pay roll'],
    ['a blank of Braille', 'Pay\u2800roll', 'Pay roll'],
    ['a selector of Mongolian', 'Pay\u180broll', 'Payroll'],
    ['the selector of an emoji', 'I \u2764\ufe0f, and 1\ufe0f\u20e3', 'I \u2764, and 1\u20e3'],
    ['the joiner of an emoji', '\u{1f469}\u200d\u{1f4bb}', '\u{1f469} \u{1f4bb}'],
    ['a mark that keeps a letter from its accent', 'Cafe\u034f\u0301', 'Caf\u00e9'],
  ])('the invisible character %s is removed from a text', (_what, text, expected) => {
    expect(safe(text)).toBe(expected);
  });

  test('visible marks and signs stay in a text', () => {
    const text = '\u0939\u093f\u0928\u094d\u0926\u0940 \ud55c\uad6d\uc5b4 \u{1f600}\u{1f3fd} na\u00efve, 5 \u20ac';
    expect(safe(text)).toBe(text);
  });
});

describe('addresses of the inside', () => {
  test.each([
    ['::1', '[removed]'],
    ['fd00:10:244::7', '[removed]'],
    ['[fd00::7]:8080', '[removed]'],
    ['fe80::1%eth0', '[removed]'],
    ['2001:db8:0:0:0:0:0:1', '[removed]'],
    ['2001:db8::/32', '[removed]'],
    ['::ffff:10.0.0.7', '[removed]'],
    ['address:fd00::7', 'address:[removed]'],
    ['http://[fd00::7]:8080', '[removed]'],
    ['100.64.0.1', '[removed]'],
    ['100.127.255.254:8080', '[removed]'],
    ['redis:6379', '[removed]'],
    ['payroll-api.hr:8080', '[removed]'],
    ['localhost:80', '[removed]'],
    ['Payroll-API:65535', '[removed]'],
    ['my_redis:6379', '[removed]'],
    ['//redis:6379/0', '//[removed]'],
    ['@redis:6379', '@[removed]'],
    ['%redis:6379', '%[removed]'],
    ['.redis:6379', '[removed]'],
    ['-redis:6379', '[removed]'],
    ['redis:6379:', '[removed]:'],
    ['Step:10/redis:6379', 'Step:10/[removed]'],
    ['8.8.8.8:53', '[removed]'],
    ['8.8.8.8:5', '[removed]'],
    ['redis:1000', '[removed]'],
    ['redis:1899', '[removed]'],
    ['redis:2040', '[removed]'],
    ['payroll.hr:100', '[removed]'],
    ['.redis.svc', '[removed]'],
    ['my_redis.svc', 'my_[removed]'],
    ['admin:secret@db:5432/x', '[removed]'],
    ['admin:secret@db', '[removed]'],
    ['user:12345@db:5432', '[removed]'],
    ['12345:secret@10.0.0.7', '[removed]'],
    ['12345:secret@[fd00::7]:5432', '[removed]'],
    ['admin:p@ss:"word/@db:5432', '[removed]'],
    ['email:secret@db:5432', '[removed]'],
    ['_http://admin:secret@db', '_[removed]'],
    ['averylongnameofascheme://admin:secret@db', 'averyl[removed]'],
    ['https://docs.example/?to=http://redis:6379', 'https://docs.example/?to=[removed]'],
    ['https://docs.example/?to=https://admin:secret@db', 'https://docs.example/?to=[removed]'],
    ['https://payroll.hr.svc/x', '[removed]'],
    ['https://docs.example/redis.svc', '[removed]'],
    ['https://docs.example/10.0.0.7', '[removed]'],
    ['https://redis./x', '[removed]'],
  ])('%s is removed from the beginning, the middle and the end of a sentence', (address, expected) => {
    expect(safe(address)).toBe(expected);
    expect(safe(`Ask ${address} now`)).toBe(`Ask ${expected} now`);
    expect(safe(`Ask (${address} ), or from ${address}`)).toBe(`Ask (${expected} ), or from ${expected}`);
  });

  test('the path of an internal name with a port is removed with it, and the end of the sentence stays', () => {
    expect(safe('Ask redis:6379, fd00::7. Then payroll:8080/v1/x?y=1 and payroll.hr:80.')).toBe(
      'Ask [removed], [removed]. Then [removed] and [removed].',
    );
  });

  test.each([
    'at 10:30 or 10:30:45',
    'a ratio of 3:1',
    'ISO 9001:2015, RFC 9110: semantics',
    'std::vector of C++',
    'the model qwen3:8b',
    'Step:1',
    '1:2:3:4:5:6:7',
    '100.63.255.255, 100.128.0.1',
    'https://docs.example:8443/a:80/b',
    'aa:bb:cc:dd:ee:ff',
    'nginx:1.27',
    'RFC:2616, rfc:2616, PEP:8000',
    'iso:27001 and iso:14001',
    'postgres:16',
    'Step:10',
    'meeting at:10',
    'step:999',
    'node-js:20, node.js:99',
    'note:2024-05-01, version:1900, version:2039, node-js:2024',
    'https://example.com/a?x=b:80, https://example.com/redis:6379',
    'https://web.archive.org/web/2020/https://example.com/',
    'git@example.com:team/tool.git, cc:@ann, nginx:1.27@2',
    'at 10:30@HQ',
    'mailto:ann@example.com, e-mail:ann@example.com',
    '~/.local/bin',
  ])('%s stays in a text', (text) => {
    expect(safe(text)).toBe(text);
  });
});

describe('the id of a skill', () => {
  test('a number after a colon is kept in an id, and other addresses and credentials are removed', () => {
    expect(safeId('iso:27001', 20)).toBe('iso:27001');
    expect(safeId('redis:6379', 20)).toBe('redis:6379');
    expect(safeId('admin:secret@db:5432', 20)).toBe('[removed]');
    expect(safeId('redis.svc:6379', 20)).toBe('[removed]');
  });
});

describe('long texts', () => {
  /** A pattern that takes quadratic time does not end within the time of a test. */
  const long = 400_000;

  test.each([
    'a-.',
    'a',
    'a:',
    'a:a@',
    '[',
    '[removed]/',
    'a://',
    'a+.',
    '1.',
    ':',
    'f:',
    '@',
    '10.0.',
    ' ',
    'https://',
    'ab:10/',
  ])('a text of many repetitions of %j is read in a time that grows linearly with its length', (part) => {
    expect(safeText(part.repeat(long / part.length), 2_000).length).toBeLessThanOrEqual(2_000);
  });
});
