/** Rows of a partition as flags, 1 for a row that fulfils a condition. The first argument is changed in place. */
export function keepBoth(into: Uint8Array, from: Uint8Array): void {
  for (let row = 0; row < into.length; row += 1) into[row] = (into[row] as number) & (from[row] as number);
}

export function keepEither(into: Uint8Array, from: Uint8Array): void {
  for (let row = 0; row < into.length; row += 1) into[row] = (into[row] as number) | (from[row] as number);
}

export function opposite(flags: Uint8Array): Uint8Array {
  for (let row = 0; row < flags.length; row += 1) flags[row] = 1 - (flags[row] as number);
  return flags;
}
