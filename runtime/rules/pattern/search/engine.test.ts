import RE2 from 're2';
import { describe, expect, test } from 'vitest';
import { EngineError, openPattern, openSet } from './engine.ts';

function patternOf(source: string, caseSensitive = true) {
  const opened = openPattern(source, caseSensitive);
  if ('refused' in opened) throw new Error(opened.refused);
  return opened;
}

describe('the engine on buffers', () => {
  test('the engine returns byte offsets, from any start', () => {
    const engine = patternOf('я+');
    const bytes = Buffer.from('aяяbя');
    expect(engine.find(bytes, 0)).toEqual({ start: 1, end: 5 });
    expect(engine.find(bytes, 3)).toEqual({ start: 3, end: 5 });
    expect(engine.find(bytes, 5)).toEqual({ start: 6, end: 8 });
    expect(engine.find(bytes, 8)).toBeUndefined();
    expect(engine.matchAt(bytes, 1)).toBe(5);
    expect(engine.matchAt(bytes, 0)).toBe(-1);
  });

  test('a match at an offset sees the bytes before and after it', () => {
    expect(patternOf('\\bb').find(Buffer.from('ab b'), 1)).toEqual({ start: 3, end: 4 });
    expect(patternOf('^b').find(Buffer.from('ab'), 1)).toBeUndefined();
    expect(patternOf('\\bb').matchAt(Buffer.from('ab'), 1)).toBe(-1);
  });

  test('a buffer that was changed is read again', () => {
    const engine = patternOf('x');
    const bytes = Buffer.from('abc');
    expect(engine.find(bytes, 0)).toBeUndefined();
    bytes.write('axc');
    expect(engine.find(bytes, 0)).toEqual({ start: 1, end: 2 });
  });

  test('a text that ends inside a character is read to its end and no further', () => {
    const whole = Buffer.from('aяb');
    expect(patternOf('я').find(whole.subarray(0, 2), 0)).toBeUndefined();
    expect(patternOf('(?s).').find(whole.subarray(1, 2), 0)).toBeUndefined();
    expect(patternOf('\\C').find(whole.subarray(0, 2), 1)).toEqual({ start: 1, end: 2 });
  });

  test.each([1_023, 1_024, 1_025])('a first match is that of exec in a text of %i bytes', (length) => {
    for (const source of ['ab+?', 'a|ab', '$', '^', '\\B', '(?:)', '\\bя', 'я\\C', 'b*$', '[^x]{2}', 'x{3}', 'q']) {
      const exec = new RE2(Buffer.from(source), 'gu');
      for (const tail of ['', 'b', 'ab', 'яab', 'aя', 'aab ', 'abb', '\u0000a']) {
        const bytes = Buffer.concat([Buffer.alloc(length - Buffer.byteLength(tail), 'x'), Buffer.from(tail)]);
        exec.lastIndex = 0;
        const found = exec.exec(bytes);
        const expected = found === null ? undefined : { start: found.index, end: found.index + found[0].length };
        expect(patternOf(source).find(bytes, 0)).toEqual(expected);
      }
    }
  });

  test('the refusal of an expression does not repeat the expression', () => {
    expect(openPattern('(secret', true)).toEqual({ refused: 'invalid syntax' });
    expect(openSet(['a', '(secret'])).toEqual({ refused: 'invalid syntax' });
    expect(openPattern('(?:\\pL{100}\\pN{100}){9}', true)).toEqual({
      refused: 'the pattern is too large for the engine',
    });
  });

  test('an expression that npm re2 would rewrite is refused', () => {
    for (const source of ['\\u0041', '\\cA', '\\p{Letter}', '(?<n>a)', 'a/b']) {
      expect(openPattern(source, true)).toEqual({
        refused: 'npm re2 would rewrite the expression, so that the engine would match other texts',
      });
    }
  });
});

test('a set that does not fit its memory is refused when it is compiled, not when it is searched', () => {
  const member = (index: number) => `${index}y.{1000}x`;
  const few = openSet([member(1), member(2)]);
  expect('refused' in few ? few.refused : few.firing(Buffer.from(`2y${'z'.repeat(1_000)}x`))).toEqual([1]);
  const many = openSet(Array.from({ length: 400 }, (_, index) => member(index)));
  expect(many).toEqual({ refused: 'the pattern is too large for the engine' });
});

test('an engine error names its kind and nothing else', () => {
  expect(new EngineError('engine_out_of_memory')).toMatchObject({ code: 'engine_out_of_memory' });
  expect(new EngineError('engine_failed').message).toBe('the matching engine failed');
});
