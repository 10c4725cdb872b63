import type { BrowserContext } from 'playwright-core';
import { until } from '#kit/testing/until';

/**
 * Opens a page of the console without anything in the cache. @returns the number of bytes over the wire, including
 * headers, and the number of requests; both include the parts that are requested after the load
 */
export async function measurePage(
  context: BrowserContext,
  url: string,
): Promise<{ readonly bytes: number; readonly requests: number }> {
  const fresh = await context.newPage();
  const session = await context.newCDPSession(fresh);
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  /** Bytes received for each request: the total of an ended request, and the bytes up to now of a stream. */
  const sizes = new Map<string, number>();
  const add = (id: string, bytes: number): void => void sizes.set(id, (sizes.get(id) ?? 0) + bytes);
  const sent: string[] = [];
  /** Paths of the requests that have not ended. */
  const open = new Map<string, string>();
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    open.delete(requestId);
    sizes.set(requestId, encodedDataLength);
  });
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    const { pathname } = new URL(request.url);
    sent.push(pathname);
    open.set(requestId, pathname);
  });
  session.on('Network.dataReceived', ({ requestId, dataLength }) => add(requestId, dataLength));
  session.on('Network.responseReceived', ({ requestId, response }) => add(requestId, response.encodedDataLength));
  await fresh.goto(url, { waitUntil: 'load' });
  // The icon and the parts of the overview are requested after the load; the stream of the overview does not end.
  const parts = new URL(url).pathname === '/overview' ? ['/overview/decisions', '/overview/events'] : [];
  await until('the last request has ended', () => {
    const isAsked = ['/icon.svg', ...parts].every((end) => sent.some((one) => one.endsWith(end)));
    return isAsked && [...open.values()].every((one) => one === '/overview/events');
  });
  await fresh.close();
  return { bytes: [...sizes.values()].reduce((sum, one) => sum + one, 0), requests: sent.length };
}
