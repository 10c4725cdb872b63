import { expect, test } from 'vitest';
import { roleRemedy } from './role-remedy.ts';

const development = 'http://issuer.portcullis.localhost';
const company = 'https://login.example';
const tokenFile = 'ann.token';
const approve = { method: 'POST', path: '/api/v1/approvals/01890a5d-ac96-774b-bcce-b302099a8057/approve' } as const;
const check = { method: 'POST', path: '/api/v1/policy-checks' } as const;
const list = { method: 'GET', path: '/api/v1/guardrail-policies' } as const;

function tokenOf(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

test('the remedy for an approval without a right is a role for the one model or policy of its command', () => {
  const token = tokenOf({ iss: development, sub: 'ann' });
  expect(roleRemedy(approve, { token, tokenFile })).toBe(
    'The token in ann.token belongs to "ann", who has no role that permits this. Ask an administrator for a role: ' +
      '"portcullis admin grant ann --role applier --model MODEL" for a command on a model, ' +
      'or "portcullis admin grant ann --role author --policy POLICY" for one on a policy.',
  );
});

test('the remedy for a check of a policy without a right is a role for one policy', () => {
  const token = tokenOf({ iss: development, sub: 'ann' });
  expect(roleRemedy(check, { token, tokenFile })).toMatch(
    /: "portcullis admin grant ann --role author --policy POLICY"\.$/,
  );
});

test('the remedy for a token of a person for whom others act names a role for each of them', () => {
  const actor = { sub: 'assistant', act: { iss: company, sub: 'scheduler' } };
  const token = tokenOf({ iss: development, sub: 'ann', act: actor });
  expect(roleRemedy(list, { token, tokenFile })).toBe(
    'The token in ann.token belongs to "ann", and "assistant", "scheduler" act for this person. ' +
      'Each of them needs a role that permits this, and not all of them have one. Ask an administrator: ' +
      '"portcullis admin grant ann --role viewer"; "portcullis admin grant assistant --role viewer"; ' +
      `"portcullis admin grant scheduler --issuer ${company} --role viewer".`,
  );
  const one = tokenOf({ iss: company, sub: 'ann', act: { sub: 'assistant' } });
  expect(roleRemedy(list, { token: one, tokenFile })).toMatch(
    /and "assistant" acts for this person\. .*"portcullis admin grant assistant --issuer https:\/\/login\.example --role viewer"\.$/,
  );
});

test('the remedy for a token that is no JWT, such as the emergency credential, has no command that grants a role', () => {
  expect(roleRemedy(list, { token: 'e'.repeat(32), tokenFile })).toBe(
    'The token in ann.token names no person, so that no role can be granted. ' +
      'The emergency credential permits only "admin" and "audit" commands: use the token of a person.',
  );
});
