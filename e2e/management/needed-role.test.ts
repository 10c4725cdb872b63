import { expect, test } from 'vitest';
import { neededRole } from '../../cli/management/needed-role.ts';
import { matrixCases } from './route-matrix.ts';

const roles = ['administrator', 'author', 'applier', 'viewer'];
/** A caller may read its own rights without a role. */
const asked = matrixCases.filter(({ operation }) => operation !== 'getOwnRights');

test.each([...new Map(asked.map((one) => [`${one.operation} ${one.type ?? ''}`, one])).values()])(
  'the command line names the smallest role that permits $method $template',
  ({ method, template, needs, type }) => {
    const found = neededRole({ method: method as 'GET', path: template });
    const sufficient = needs.flatMap((need) => roles.find((role) => need.startsWith(role)) ?? []);
    // The right of an approval depends on its command.
    if (template.includes('/approve')) expect(['author', 'applier']).toContain(found.role);
    else expect(sufficient).toContain(found.role);
    const isOfOne = needs.some((need) => need === `${found.role} of ${type}`);
    if (found.of?.id !== undefined) expect([type, isOfOne]).toEqual([found.of.option.slice(2), true]);
  },
);

test('a command that overrides a freeze window requires an administrator', () => {
  const path = '/api/v1/models/01890a5d-ac96-774b-bcce-b302099a8057/guardrail-binding';
  expect(neededRole({ method: 'PUT', path })).toMatchObject({ role: 'applier' });
  expect(neededRole({ method: 'PUT', path, headers: { 'x-portcullis-override-freeze': 'true' } })).toEqual({
    role: 'administrator',
  });
});

test.each([
  ['policy-checks', { role: 'author', of: { option: '--policy' } }],
  ['approvals/01890a5d-ac96-774b-bcce-b302099a8057/approve', { role: 'applier', of: { option: '--model' } }],
])('a role for one policy or model is enough for a POST to %s, which does not name it', (route, needed) => {
  expect(neededRole({ method: 'POST', path: `/api/v1/${route}` })).toEqual(needed);
});

test('a role for one policy or model is enough where the request names it, and the filters of a list are no names', () => {
  expect(neededRole({ method: 'PUT', path: '/api/v1/guardrail-policies/p-1' })).toEqual({
    role: 'author',
    of: { option: '--policy', id: 'p-1' },
  });
  expect(neededRole({ method: 'GET', path: '/api/v1/guardrail-policies?limit=2' })).toEqual({ role: 'viewer' });
});
