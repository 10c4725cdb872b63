import { expect, test } from 'vitest';
import { cutWindows, windowsOf } from './cut-windows.ts';

test('a text of at most one window is sent once it has passed', () => {
  expect(cutWindows('')).toEqual([]);
  const text = 'a'.repeat(1_024);
  expect(cutWindows(text)).toEqual([{ text, sent: text, heldBytes: 0 }]);
});

test('in a longer text, each window includes the last 256 bytes before it, and the last 255 judged bytes are not sent', () => {
  const text = 'a'.repeat(1_025);
  const [first, second, ...others] = cutWindows(text);
  expect(others).toEqual([]);
  expect([first?.text.length, first?.sent.length, first?.heldBytes]).toEqual([1_024, 769, 255]);
  expect([second?.text.length, second?.sent, second?.heldBytes]).toEqual([257, text, 0]);
});

test('no character is split, and the last window completes the text', () => {
  const text = 'я😀 '.repeat(1_000);
  const windows = cutWindows(text);
  expect(windows.length).toBeGreaterThan(5);
  for (const { text: window, sent } of windows) {
    expect(window).not.toContain('\ufffd');
    expect(text.startsWith(sent)).toBe(true);
  }
  expect(windows.at(-1)?.sent).toBe(text);
});

test('half of a surrogate pair is refused', () => {
  expect(() => cutWindows('a\ud83d')).toThrow(TypeError);
});

test('a text that is judged before it is sent has the same windows', () => {
  expect(windowsOf('')).toEqual([]);
  for (const text of ['a'.repeat(1_024), 'a'.repeat(1_025), 'я😀 '.repeat(1_000)]) {
    expect(windowsOf(text)).toEqual(cutWindows(text).map((window) => window.text));
  }
  expect(windowsOf('a\ud83d')).toBeUndefined();
  expect(windowsOf('\udc00a')).toBeUndefined();
});
