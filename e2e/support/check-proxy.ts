import { type Fault, type FaultyProxy, type ProxiedRequest, startFaultyProxy } from '#kit/testing/faulty-proxy';

/** A proxy between a gateway and a runtime that injects faults into checks; readiness probes always pass. */
export type CheckProxy = AsyncDisposable & {
  readonly url: string;
  /** The checks up to now. */
  readonly seen: readonly ProxiedRequest[];
  /** Sets the fault for all following checks; a function chooses a fault for each check. */
  readonly inject: (fault: Fault | ((check: ProxiedRequest) => Fault)) => void;
  /** Forwards everything to another runtime from now on. */
  readonly retarget: (target: string) => void;
};

/** A probe has no messages. */
const isProbe = (body: string): boolean => /"(?:messages|choices)"\s*:\s*\[\s*\]/.test(body);

export async function startCheckProxy(target: string): Promise<CheckProxy> {
  const seen: ProxiedRequest[] = [];
  const pass: FaultyProxy['choose'] = () => ({ kind: 'pass' });
  let choose = pass;
  const proxy = await startFaultyProxy(target);
  proxy.choose = (check) => {
    if (isProbe(check.body)) return pass(check);
    seen.push(check);
    return choose(check);
  };
  return {
    url: proxy.url,
    seen,
    inject: (fault) => {
      choose = typeof fault === 'function' ? fault : () => fault;
    },
    retarget: (other) => {
      proxy.target = other;
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
