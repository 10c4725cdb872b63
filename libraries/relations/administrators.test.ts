import { describe, expect, test } from 'vitest';
import { grantAdministrators, readAdministrators } from './administrators.ts';
import type { Tuple } from './ports.ts';

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

  test('first administrators are granted in one change, and an empty list grants nothing', async () => {
    const grants: (readonly Tuple[])[] = [];
    const relations = { grant: async (tuples: readonly Tuple[]) => void grants.push(tuples) };
    await grantAdministrators(relations, []);
    await grantAdministrators(relations, readAdministrators(['https://i.example|ann', 'https://i.example|bob']));
    const tuple = (subject: string) => ({ subject, relation: 'administer', object: 'control_plane:control-plane' });
    expect(grants).toEqual([[tuple('user:https%3A//i.example|ann'), tuple('user:https%3A//i.example|bob')]]);
  });
});
