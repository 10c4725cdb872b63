import { setTimeout as pause } from 'node:timers/promises';

/** The members of a probe over HTTP that the kubelet acts on, as a pod names them. */
export type HttpProbe = {
  readonly httpGet: { readonly path: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold: number;
};

/**
 * Sends requests to an address as the kubelet does: once in each period; a status of 200 to 399 within the timeout is a
 * success. The function ends when as many consecutive attempts have failed as the threshold requires, after which the
 * kubelet would kill the container, or when the signal is aborted before that.
 */
export async function probeAsKubelet(
  origin: string,
  probe: HttpProbe,
  signal: AbortSignal,
): Promise<'killed' | 'kept'> {
  let failed = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    failed = (await succeeds(new URL(probe.httpGet.path, origin), probe.timeoutSeconds)) ? 0 : failed + 1;
    if (failed >= probe.failureThreshold) return 'killed';
    const rest = probe.periodSeconds * 1_000 - (performance.now() - begun);
    await pause(Math.max(0, rest), undefined, { signal }).catch(() => undefined);
  }
  return 'kept';
}

async function succeeds(url: URL, timeoutSeconds: number): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1_000), redirect: 'manual' });
    await answer.body?.cancel();
    return answer.status >= 200 && answer.status < 400;
  } catch {
    return false;
  }
}
