import { expect, test } from 'vitest';
import { remedyForServer } from './remedy-for-server.ts';

const far = { server: 'https://portcullis.example', tokenFile: 'my token' };
const added = " Commands reach this installation with --server https://portcullis.example --token-file 'my token'.";

test.each([
  ['This build is no longer available: portcullis reapply chat', far, added],
  ['Correct the rule ("portcullis test guard" runs its tests).', far, added],
  ['Wait, and look again to see the progress.', far, ''],
  ['This build is no longer available: portcullis reapply chat', {}, ''],
])('the remedy %j with %j ends with %j', (remedy, options, end) => {
  expect(remedyForServer(remedy, options)).toBe(`${remedy}${end}`);
});
