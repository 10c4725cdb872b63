import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The headless build first: it needs less than half of the CPU time, because it has no window to compose. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const program = places.find((path) => existsSync(path));

/** Why tests in a browser are skipped; undefined where a browser is installed. */
export const missingBrowser = program === undefined ? `no browser is installed (${places.join(', ')})` : undefined;

/** The title of a suite, with the reason if the suite is skipped. */
export function inBrowser(title: string): string {
  return missingBrowser === undefined ? title : `${title} (skipped: ${missingBrowser})`;
}

/** A headless browser; it ends with the disposal. */
export async function openBrowser(): Promise<AsyncDisposable & { readonly browser: Browser }> {
  const browser = await chromium.launch({
    executablePath: program ?? '',
    // For root, Chromium has no sandbox; the pages are those of the tests.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  return { browser, [Symbol.asyncDispose]: () => browser.close() };
}

/** Closes every page, because an open page still receives events and is drawn. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}

/** A page, and everything that it reported: messages of the console, violations of CSP and uncaught errors. */
type WatchedPage = {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly complaints: readonly string[];
};

export async function openWatchedPage(
  browser: Browser,
  options: {
    readonly colorScheme?: 'light' | 'dark';
    readonly locale?: string;
    readonly javaScriptEnabled?: boolean;
  } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en', ...options });
  context.setDefaultTimeout(300_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  return { page, context, complaints };
}
