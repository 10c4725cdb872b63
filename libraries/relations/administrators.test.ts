import { describe, expect, test } from 'vitest';
import { administratorTuples, readAdministrators } from './administrators.ts';

describe('the first administrators', () => {
  test('a first administrator is issuer and subject, separated by the first bar', () => {
    expect(readAdministrators(['https://issuer.example|ann', 'https://issuer.example|a|b'])).toEqual([
      { issuer: 'https://issuer.example', subject: 'ann' },
      { issuer: 'https://issuer.example', subject: 'a|b' },
    ]);
  });

  test.each(['ann', '|ann', 'https://issuer.example|', '|', ''])(
    'a list of first administrators is refused: %j',
    (item) => {
      expect(() => readAdministrators([item])).toThrow('PORTCULLIS_ADMINISTRATORS must be a list of issuer|subject');
    },
  );

  test('a first administrator that is named twice has one tuple', () => {
    const tuple = (subject: string) => ({ subject, relation: 'administer', object: 'control_plane:control-plane' });
    const names = ['https://i.example|ann', 'https://i.example|bob', 'https://i.example|ann'];
    expect(administratorTuples(readAdministrators(names))).toEqual([
      tuple('user:https%3A//i.example|ann'),
      tuple('user:https%3A//i.example|bob'),
    ]);
  });
});
