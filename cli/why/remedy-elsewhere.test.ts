import { expect, test } from 'vitest';
import { remedyElsewhere } from './remedy-elsewhere.ts';

const far = { server: 'https://portcullis.example', tokenFile: 'my token' };
const added = " Commands reach this installation with --server https://portcullis.example --token-file 'my token'.";

test.each([
  ['This build is no longer available: portcullis reapply chat', far, added],
  ['Correct the rule ("portcullis test guard" runs its tests).', far, added],
  ['Wait, and look again to see the progress.', far, ''],
  ['This build is no longer available: portcullis reapply chat', {}, ''],
  [
    'This build is no longer available: portcullis reapply chat',
    { data: '/srv/my data' },
    " Commands reach this platform with --data '/srv/my data'.",
  ],
  ['Wait, and look again to see the progress.', { data: '/srv/p' }, ''],
  ['This build is no longer available: portcullis reapply chat', { ...far, data: '/srv/p' }, added],
])('the remedy %j with %j ends with %j', (remedy, options, end) => {
  expect(remedyElsewhere(remedy, options)).toBe(`${remedy}${end}`);
});
