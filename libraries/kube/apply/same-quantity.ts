const suffixes: ReadonlyMap<string, readonly [base: 2 | 10, exponent: number]> = new Map([
  ['n', [10, -9]],
  ['u', [10, -6]],
  ['m', [10, -3]],
  ['', [10, 0]],
  ['k', [10, 3]],
  ['M', [10, 6]],
  ['G', [10, 9]],
  ['T', [10, 12]],
  ['P', [10, 15]],
  ['E', [10, 18]],
  ['Ki', [2, 10]],
  ['Mi', [2, 20]],
  ['Gi', [2, 30]],
  ['Ti', [2, 40]],
  ['Pi', [2, 50]],
  ['Ei', [2, 60]],
]);

/**
 * Whether two Kubernetes quantities are equal (`1000m` and `1`, `1024Mi` and `1Gi`): servers normalise them. A text that
 * is not a quantity equals only the same text.
 */
export function sameQuantity(a: string | number, b: string | number): boolean {
  if (String(a) === String(b)) return true;
  const [left, right] = [nanosOf(a), nanosOf(b)];
  return left !== undefined && left === right;
}

/** A quantity in units of 10^-9, rounded as Kubernetes does; undefined if the value is not a quantity. */
function nanosOf(value: string | number): bigint | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,2})|([numkKMGTPE]i?)?)$/.exec(String(value));
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent, suffix = ''] = match;
  const scale = exponent === undefined ? suffixes.get(suffix) : ([10, Number(exponent)] as const);
  if (scale === undefined || whole + fraction === '') return undefined;
  const [base, power] = scale;
  const digits = BigInt(whole + fraction) * (base === 2 ? 2n ** BigInt(power) : 1n);
  const shift = 9 - fraction.length + (base === 10 ? power : 0);
  const nanos = shift >= 0 ? digits * 10n ** BigInt(shift) : roundUp(digits, 10n ** BigInt(-shift));
  return sign === '-' ? -nanos : nanos;
}

function roundUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
