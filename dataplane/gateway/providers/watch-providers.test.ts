import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchProviders } from './watch-providers.ts';

const upstream = { provider: 'one', endpoint: 'http://127.0.0.1:1/v1', model: 'm', credential: 'key' };
const never = 2_147_483_647;
const waits = { look: 0, probe: { firstMs: never, maxMs: never }, shown: { firstMs: 1, maxMs: 1 } };
const logger = { info: () => undefined, warn: () => undefined };

/** Opens a watch whose probe answers when the test tells it to. */
function openWatch() {
  const answer = Promise.withResolvers<'reachable'>();
  const watch = watchProviders({
    upstreams: () => [upstream],
    probe: () => answer.promise,
    onChange: () => undefined,
    logger,
    waits,
  });
  return { watch, answer };
}

test('a successful connection to a provider does not clear the state of a refused request', async () => {
  const { watch, answer } = openWatch();
  using _watch = watch;
  watch.look();
  await new Promise((resolve) => setTimeout(resolve, 5));
  watch.note(upstream, 'credential_refused');
  answer.resolve('reachable');
  await turn();
  expect(watch.state()).toEqual([{ provider: 'one', cause: 'credential_refused' }]);
});

test('a request to a provider counts for its state although it ended before the routes were read', () => {
  const { watch } = openWatch();
  using _watch = watch;
  watch.note(upstream, 'model_not_found');
  expect(watch.state()).toEqual([{ provider: 'one', model: 'm', cause: 'model_not_found' }, { provider: 'one' }]);
});
