import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { type EventFact, silentRecorder } from '#kube/events/event-recorder';
import type { GatewayRoute } from '#resources/gateway-route';
import { type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { acceptingJudge } from '../testing/accepting-judge.ts';
import { type FakeReplica, startFakeReplica } from '../testing/fake-replica.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import { bindingObject, guardedBy, policyObject } from '../testing/objects.ts';
import {
  startTestOperator,
  type TestOperator,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

let platform: TestOperator;
let replica: FakeReplica;
/** The events that the operator recorded. */
const events: EventFact[] = [];
let number = 0;
/** The name of the policy and of the binding of one test. */
let name = '';

beforeAll(async () => {
  platform = await startTestOperator({
    overrides: {
      workloads: createInstantWorkloads('test-1'),
      judge: acceptingJudge,
      events: { ...silentRecorder, record: (fact) => void events.push(fact) },
    },
  });
  replica = await startFakeReplica(platform, 'gateway-1');
});
afterAll(() => platform[Symbol.asyncDispose]());

beforeEach(async () => {
  number += 1;
  name = `tampered-${number}`;
  await platform.client.create(kinds.guardrailPolicy, policyObject(name));
  await platform.client.create(kinds.modelBinding, bindingObject(name, { guardrail: guardedBy(1, name) }));
  await waitForRoute(platform, name, 'the route is written', () => true);
  await replica.report('take');
  await waitForCondition(platform, name, 'Applied', 'True');
});

function archive(): Promise<unknown> {
  return platform.client.patch(kinds.guardrailPolicy, name, [
    { op: 'replace', path: '/spec/lifecycle', value: 'Archived' },
  ]);
}

async function remove(kind: Kind): Promise<void> {
  const object = await platform.client.get(kind, name);
  if (object === undefined) return;
  if (kind.internal) await platform.client.delete(kind, name, { uid: object.metadata.uid });
  else await deleteConfirmed(platform.client, kind, object);
}

/** The finalizer holds the policy while the binding refers to it. */
function deletePolicy(): Promise<unknown> {
  return remove(kinds.guardrailPolicy);
}

const states = [
  ['in force', () => Promise.resolve()],
  ['archived', archive],
  ['being deleted', deletePolicy],
] as const;

type Tampering = (route: Stored<GatewayRoute>) => Promise<unknown>;
const patch =
  (path: string, value: unknown): Tampering =>
  () =>
    platform.client.patch(kinds.gatewayRoute, name, [{ op: 'replace', path, value }]);

const tamperings: readonly (readonly [string, Tampering])[] = [
  ['was changed to mode None', patch('/spec/guardrail', { mode: 'None' })],
  [
    'was changed to mode None under another generation',
    ({ spec }) =>
      patch('/spec', { ...spec, generationId: '01990000-0000-7000-8000-0000000000ff', guardrail: { mode: 'None' } })(
        {} as Stored<GatewayRoute>,
      ),
  ],
  ['names another policy', patch('/spec/guardrail/policyId', 'other')],
  ['names another workload', patch('/spec/workload', 'g-00000000000000000000')],
  ['allows a larger body', patch('/spec/guardrail/maxBodyBytes', 1_000_000)],
  ['was deleted', () => remove(kinds.gatewayRoute)],
];

test.each(
  tamperings.flatMap(([what, tamper]) => states.map(([state, enter]) => [what, state, tamper, enter] as const)),
)('a route that %s is restored while its policy is %s', async (_what, _state, tamper, enter) => {
  await enter();
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, name);
  if (route === undefined) throw new Error('there is no route');
  await tamper(route);
  await until('the route is restored', async () => {
    const now = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, name);
    expect(now?.spec.guardrail).toEqual(route.spec.guardrail);
    expect(now?.spec).toMatchObject({ workload: route.spec.workload, token: route.spec.token });
    return true;
  });
  await replica.report('take');
  await waitForCondition(platform, name, 'Applied', 'True');
  const corrected = events.filter(
    ({ reason, regarding }) => reason === 'DriftCorrected' && regarding.metadata.name === name,
  );
  expect(corrected.length).toBeGreaterThan(0);
});

test('an unguarded route is unchanged when its binding names a policy revision that does not exist', async () => {
  const binding = `${name}-unguarded`;
  await platform.client.create(kinds.modelBinding, bindingObject(binding, { guardrail: { mode: 'None' } }));
  const route = await waitForRoute(platform, binding, 'the route is written', () => true);
  await replica.report('take');
  await waitForCondition(platform, binding, 'Applied', 'True');
  await platform.client.patch(kinds.modelBinding, binding, [
    { op: 'replace', path: '/spec/guardrail', value: guardedBy(7, name) },
  ]);
  await waitForCondition(platform, binding, 'ResolvedRefs', 'False', 'PolicyRevisionUnknown');
  const now = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, binding);
  expect(now?.spec).toEqual(route.spec);
});
