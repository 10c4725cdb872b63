import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { defaultBundleLimits } from '#contracts/bundle';
import { gatewayRouteSchema } from '#resources/gateway-route';
import { makeGuard, minStreamingBodyBytes } from '../../../acceptance/resources/guard.ts';
import { writePrevious } from '../../../applications/previous-application.ts';
import { definitionOf } from '../../../testing/objects.ts';
import { bindingId, generationId, guardOf, revisionOf, specOf } from '../testing/snapshots.ts';
import { makeRoute, makeRouteFrame } from './route.ts';

const identity = { name: 'chat', uid: 'uid-of-chat', id: bindingId };
const upstream = {
  provider: 'vendor',
  endpoint: 'https://models.example.com/v1',
  credential: 'vendor-key',
  enabled: true,
};
const frame = makeRouteFrame(identity, specOf({ extraRequestKeys: ['seed'] }), upstream);
const contentProfile = 'gateway-1.5.0-chat-webhook-v2';

function golden(name: string, object: unknown) {
  expect(gatewayRouteSchema.safeParse(object).error?.issues).toBeUndefined();
  return expect(stringify(object)).toMatchFileSnapshot(`../testdata/${name}.yaml`);
}

test('a guarded route equals its golden file', () =>
  golden(
    'guarded-route',
    makeRoute(
      { ...frame, token: 'a-token', contentProfile, guardrail: guardOf(2), workload: 'g-2', generationId },
      undefined,
    ),
  ));

test('a route with an unconfirmed application contains the previous application', () => {
  const previous = writePrevious({ mode: 'Policy', token: '', contentProfile, workload: 'g-1', guardrail: guardOf(1) });
  return golden(
    'route-on-trial',
    makeRoute(
      { ...frame, token: 'a-token', contentProfile, guardrail: guardOf(2), workload: 'g-2', generationId },
      previous,
    ),
  );
});

test('an unguarded model has a route with mode None', () =>
  golden(
    'unguarded-route',
    makeRoute({ ...frame, token: '', contentProfile, guardrail: { mode: 'None' }, generationId }, undefined),
  ));

test('a disabled model or provider disables the route', () => {
  const { model } = specOf();
  expect(makeRouteFrame(identity, specOf({ model: { ...model, state: 'Disabled' } }), upstream).state).toBe('Disabled');
  expect(makeRouteFrame(identity, specOf(), { ...upstream, enabled: false }).state).toBe('Disabled');
});

test('the route contains the streaming mode unless it is the default', () => {
  const modeOf = (streaming?: 'Strict' | 'Allowed' | 'Refused') =>
    makeRouteFrame(identity, specOf(streaming === undefined ? {} : { streaming }), upstream);
  expect(modeOf()).not.toHaveProperty('streaming');
  expect(modeOf('Strict')).not.toHaveProperty('streaming');
  expect(modeOf('Allowed')).toMatchObject({ streaming: 'Allowed' });
  expect(modeOf('Refused')).toMatchObject({ streaming: 'Refused' });
});

test('streaming requires bodies of 8,192 bytes and a policy that can be checked in windows', () => {
  const guard = (maxBodyBytes: number, streaming: Parameters<typeof makeGuard>[0]['streaming']) =>
    makeGuard({
      revision: revisionOf(1),
      definition: definitionOf('portal-1'),
      contentProfile,
      digest: 'a'.repeat(64),
      addresses: ['http://127.0.0.1:1'],
      limits: { ...defaultBundleLimits, maxBodyBytes },
      streaming,
      division: undefined,
    }).streaming;
  expect(minStreamingBodyBytes).toBe(8_192);
  expect(guard(8_192, { allowed: true })).toEqual({ allowed: true });
  expect(guard(8_191, { allowed: true })).toMatchObject({
    allowed: false,
    rule: expect.stringContaining('maxBodyBytes'),
  });
  expect(guard(8_192, { allowed: false, rule: 'long-phrase' })).toEqual({ allowed: false, rule: 'long-phrase' });
});

test('a route says whether long texts of requests can be judged in pieces, or which rule forbids it', () => {
  const guard = (division: Parameters<typeof makeGuard>[0]['division']) =>
    makeGuard({
      revision: revisionOf(1),
      definition: definitionOf('portal-1'),
      contentProfile,
      digest: 'a'.repeat(64),
      addresses: ['http://127.0.0.1:1'],
      limits: defaultBundleLimits,
      streaming: { allowed: true },
      division,
    }).division;
  expect(guard({ allowed: true })).toEqual({ allowed: true });
  expect(guard({ allowed: false, rule: 'anchored' })).toEqual({ allowed: false, rule: 'anchored' });
  expect(guard(undefined)).toBeUndefined();
});
