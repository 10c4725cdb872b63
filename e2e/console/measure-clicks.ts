import type { Locator, Page } from 'playwright-core';
import { openBrowser, openWatchedPage } from '../support/browser.ts';
import { startPlatform } from '../support/start-platform.ts';
import { measureConfirmations } from './measure-confirmations.ts';
import { consoleOf, signIn } from './sign-in.ts';

/** Milliseconds from a click to the painted outcome, for each kind of click. */
type ClickReport = { readonly name: string; readonly medianMs: number; readonly mostMs: number };

const now = 'performance.timeOrigin + performance.now()';
/** The time of the first content of a page that was loaded. */
const painted = `new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    for (const { name, startTime } of list.getEntries()) {
      if (name !== 'first-contentful-paint') continue;
      observer.disconnect();
      resolve(performance.timeOrigin + startTime);
    }
  }).observe({ type: 'paint', buffered: true });
})`;
/** The time of the frame after a part of a page has changed. */
const nextFrame = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(${now}))))`;

/**
 * Clicks links and buttons of a whole platform in a real browser, `rounds` times each. The time of a click is taken
 * before the command for it is sent to the browser, so that a figure is larger than the time that a person waits.
 */
export async function measureClicks(
  rounds: number,
  say: (progress: string) => void,
): Promise<{ readonly clicks: readonly ClickReport[]; readonly confirmations: readonly number[] }> {
  await using platform = await startPlatform({
    ...{ management: true, console: true, retrieval: true, handbook: true },
    ...{ memory: true, catalogue: true, agents: true },
  });
  await using open = await openBrowser();
  const { page } = await openWatchedPage(open.browser);
  await signIn(platform, page, { path: '/overview' });
  say('the platform is ready');
  const reports: ClickReport[] = [];
  const links = [
    ...['Overview', 'Policies', 'Playground', 'Activity', 'Operations', 'Audit log'],
    ...['Knowledge', 'Memory', 'Agents'],
  ];
  for (const name of links) {
    const target = page.getByRole('navigation').getByRole('link', { name, exact: true });
    reports.push(await clicksOf(name, rounds, () => pageClick(page, target)));
  }
  await page.goto(`${consoleOf(platform)}/playground`);
  await page.getByLabel('Text').fill('Write to ann@example.com, please.');
  const check = page.getByRole('button', { name: 'Check the text' });
  reports.push(await clicksOf('check of a text', rounds, () => partClick(page, check, '/playground/check')));
  await page.goto(`${consoleOf(platform)}/knowledge`);
  await page.getByRole('link', { name: 'handbook' }).click();
  await page.waitForLoadState();
  await page.getByLabel('Question').fill('What may a hotel cost?');
  const search = page.getByRole('button', { name: 'Search' });
  reports.push(await clicksOf('search', rounds, () => partClick(page, search, '/search')));
  await page.goto(`${consoleOf(platform)}/overview`);
  return { clicks: reports, confirmations: await measureConfirmations(platform, page, rounds) };
}

async function clicksOf(name: string, rounds: number, click: () => Promise<number>): Promise<ClickReport> {
  const times: number[] = [];
  // The first click fills caches of the services, which happens to a person only once.
  await click();
  for (let round = 0; round < rounds; round += 1) times.push(await click());
  times.sort((one, other) => one - other);
  return { name, medianMs: times[Math.floor(times.length / 2)] ?? Number.NaN, mostMs: times.at(-1) ?? Number.NaN };
}

async function pageClick(page: Page, target: Locator): Promise<number> {
  const before = (await page.evaluate(now)) as number;
  const loaded = page.waitForEvent('load');
  await target.click();
  await loaded;
  return ((await page.evaluate(painted)) as number) - before;
}

async function partClick(page: Page, target: Locator, path: string): Promise<number> {
  const before = (await page.evaluate(now)) as number;
  const answered = page.waitForResponse((response) => response.url().endsWith(path));
  await target.click();
  await (await answered).finished();
  return ((await page.evaluate(nextFrame)) as number) - before;
}
