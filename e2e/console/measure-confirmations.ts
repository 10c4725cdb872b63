import type { Page } from 'playwright-core';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { Platform } from '../support/start-platform.ts';

const alias = 'guarded-echo';
/** The time of the frame in which the row of the model shows that its binding is applied. */
const appliedShown = `new Promise((resolve) => {
  const look = () => {
    const state = document.querySelector('#model-${alias} td .badge');
    if (state === null || !state.innerText.endsWith('Applied')) return;
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
  };
  const observer = new MutationObserver(look);
  observer.observe(document.querySelector('#live'), { childList: true, subtree: true, characterData: true });
  look();
})`;

/**
 * Enables the example model `rounds` times and measures, each time, from the report of its gateway to the frame of the
 * overview that shows the application, milliseconds. A separate watch sees the report, a little later than it was
 * written.
 */
export async function measureConfirmations(platform: Platform, page: Page, rounds: number): Promise<readonly number[]> {
  const { client } = platform;
  const row = page.locator(`#model-${alias}`);
  const set = async (state: 'Enabled' | 'Disabled') => {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, alias);
    await client.patch(kinds.modelBinding, alias, [
      { op: 'test', path: '/metadata/uid', value: binding?.metadata.uid ?? '' },
      { op: 'replace', path: '/spec/model/state', value: state },
    ]);
  };
  const delays: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await set('Disabled');
    await row.getByText('Disabled').waitFor();
    const stop = new AbortController();
    const { resourceVersion } = await client.list(kinds.gatewayReport);
    const reported = watchReports(platform, resourceVersion, stop.signal);
    const shown = page.evaluate(appliedShown) as Promise<number>;
    await set('Enabled');
    const shownAt = await shown;
    stop.abort();
    const before = (await reported).filter((at) => at <= shownAt);
    const last = before.at(-1);
    if (last === undefined) throw new Error('the application was shown before any report');
    delays.push(shownAt - last);
  }
  return delays;
}

/** The times at which reports of gateways changed, until the signal. */
async function watchReports(
  { client }: Platform,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const times: number[] = [];
  try {
    for await (const { type } of client.watch(kinds.gatewayReport, { resourceVersion, signal }))
      if (type === 'MODIFIED') times.push(performance.timeOrigin + performance.now());
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return times;
}
