const factors: Readonly<Record<string, number>> = {
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The number of bytes of a Kubernetes quantity such as `512Mi`, `1.5G` or `1e9`; undefined for other texts. */
export function bytesOf(quantity: string): number | undefined {
  const [, digits = '', suffix = ''] = /^(\d+(?:\.\d+)?)(.*)$/.exec(quantity) ?? [];
  const factor = /^[eE]-?\d+$/.test(suffix) ? Number(`1${suffix}`) : factors[suffix];
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}

/** Share of the memory limit for the heap; the matching engine and buffers need the rest. */
const heapPart = 0.75;

/** The heap of a process, whole MiB, at most three quarters of its memory limit. */
export function heapMebibytes(limit: string): number | undefined {
  const bytes = bytesOf(limit);
  return bytes === undefined ? undefined : Math.max(1, Math.floor((bytes * heapPart) / 2 ** 20));
}
