import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { missingPostgres, onPostgres } from '#sql/testing/test-database';
import { servedTable } from '../../operator/management/http/served-table.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import type { HttpResponse } from './call-api.ts';
import { type ManagementWorld, openManagementWorld } from './open-management-world.ts';
import { answerTo, type Held, type MatrixCase, matrixCases, plans } from './route-matrix.ts';
import { type MatrixCalls, openMatrixCalls } from './route-matrix-calls.ts';
import { issuer } from './start-management.ts';

const emergency = 'an-emergency-credential-of-40-characters';
const group = 'matrix-people';

type Caller = {
  readonly name: string;
  readonly held: Held | undefined;
  readonly token: string | null;
  /** A command that the caller sent when it had the right. */
  readonly operationId: string;
};

const roles: readonly Held[] = [
  { role: 'administrator' },
  { role: 'author' },
  { role: 'applier' },
  { role: 'viewer' },
  { role: 'author', type: 'policy' },
  { role: 'viewer', type: 'policy' },
  { role: 'applier', type: 'model' },
  { role: 'viewer', type: 'model' },
];

const outcomeOf = ({ status, json }: HttpResponse): string =>
  status < 400 ? `${status}` : `${status} ${json?.error?.code}`;

describe.skipIf(missingPostgres !== undefined)(onPostgres('roles, routes and targets of the management API'), () => {
  let world: ManagementWorld;
  let calls: MatrixCalls;
  const folder = temporaryFolder();
  const breakGlass = join(folder.path, 'break-glass');

  beforeAll(async () => {
    writeFileSync(breakGlass, emergency);
    world = await openManagementWorld({ replicas: 2, environment: { PORTCULLIS_BREAK_GLASS_FILE: breakGlass } });
    calls = await openMatrixCalls(world);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  const change = async (verb: 'grant' | 'revoke', body: object) => {
    const answer = await world.api.call(`/api/v1/rights/${verb}`, { method: 'POST', body });
    expect([body, answer.status]).toEqual([body, 200]);
  };
  const bodyOf = ({ role, type }: Held, holder: object) => {
    const of = type === undefined ? {} : { [`${type}Id`]: calls.targets[type].own };
    return { role, holder: { issuer, ...holder }, ...of };
  };

  /** A caller that sent one command while it was an author. */
  async function callerOf(
    name: string,
    held: Held | undefined,
    identity: { readonly groups?: readonly string[]; readonly actor?: string } = {},
  ): Promise<Caller> {
    const { groups = [], actor } = identity;
    const actors = actor === undefined ? {} : { actors: [{ issuer, subject: actor }] };
    const token = await world.api.mint({ subject: name, groups, ...actors });
    const authors = [name, ...(actor === undefined ? [] : [actor])].map((subject) =>
      bodyOf({ role: 'author' }, { subject }),
    );
    for (const right of authors) await change('grant', right);
    const body = { name: `of-${name}`, definition: definitionOf('x') };
    const sent = await world.api.command('POST', '/api/v1/guardrail-policies', body, { token });
    await world.api.ended(sent);
    for (const right of authors) await change('revoke', right);
    return { name, held, token, operationId: sent.json.operationId };
  }

  /**
   * Makes calls and expects the results of the model. Calls without the right are first and concurrent, because they
   * must change nothing.
   */
  async function expectAnswers(callers: readonly Caller[], one: MatrixCase): Promise<number> {
    const expected = callers.map((caller) => ({
      caller,
      ...(caller.token === null ? { isAllowed: false, answer: '401 unauthenticated' } : answerTo(caller.held, one)),
    }));
    const label = (caller: Caller) => `${caller.name}: ${one.operation} ${one.type ?? ''} ${one.target}`;
    const ask = async (caller: Caller, at: number) => {
      const shown = await calls.call(one, { ...caller, replica: at % 2 });
      return [label(caller), `${outcomeOf(shown.answer)}${shown.listed ?? ''}`] as const;
    };
    const [refused, permitted] = [expected.filter((row) => !row.isAllowed), expected.filter((row) => row.isAllowed)];
    await calls.prepare(one);
    const isWrite = one.method !== 'GET';
    const before = isWrite ? await calls.state() : undefined;
    const answers = await Promise.all(refused.map(({ caller }, at) => ask(caller, at)));
    expect(answers).toEqual(refused.map(({ caller, answer }) => [label(caller), answer]));
    if (isWrite) expect([one.operation, await calls.state()]).toEqual([one.operation, before]);
    for (const [at, { caller, answer }] of permitted.entries()) {
      await calls.prepare(one);
      expect(await ask(caller, at)).toEqual([label(caller), answer]);
      calls.use(one);
    }
    return expected.length;
  }

  test('the matrix has every route of the service, with its method and path', () => {
    const served = servedTable.operations.map(({ name, method, path }) => [name, `${method} ${path}`]);
    const listed = Object.entries(plans).map(([name, { route }]) => [name, route]);
    expect(listed.toSorted()).toEqual(served.toSorted());
    expect(matrixCases.length).toBeGreaterThan(served.length);
  });

  test('every role gets the answer of a simple model of the roles on every route and target, and after its revocation that of a caller without a role', async () => {
    const callers: Caller[] = [
      { name: 'no-token', held: undefined, token: null, operationId: uuid() },
      { name: 'emergency', held: { role: 'emergency' }, token: emergency, operationId: uuid() },
      await callerOf('nobody', undefined),
      await callerOf('foreign-member', undefined, { groups: ['foreign-people'] }),
      await callerOf('acted-for', undefined, { actor: 'agent-without-role' }),
    ];
    await change('grant', bodyOf({ role: 'administrator' }, { subject: 'acted-for' }));
    const foreign = { issuer: 'http://other.test', group: 'foreign-people' };
    await change('grant', { role: 'administrator', holder: foreign });
    const granted: object[] = [];
    for (const held of roles) {
      const name = [held.role, ...(held.type === undefined ? [] : ['of', held.type])].join('-');
      const members = `${group}-${name}`;
      callers.push(await callerOf(name, held), await callerOf(`member-${name}`, held, { groups: [members] }));
      granted.push(bodyOf(held, { subject: name }), bodyOf(held, { group: members }));
    }
    for (const right of granted) await change('grant', right);
    let checked = 0;
    for (const one of matrixCases) checked += await expectAnswers(callers, one);
    expect(checked).toBe(callers.length * matrixCases.length);
    for (const right of granted) await change('revoke', right);
    const revoked = callers.map((caller) => ({
      ...caller,
      held: caller.held?.role === 'emergency' ? caller.held : undefined,
    }));
    for (const one of matrixCases) await expectAnswers(revoked, one);
  });
});
