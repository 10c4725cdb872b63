type Limit = number | Readonly<Record<string, number>>;

/** The limits of a service in one line, each with its range. */
export function limitsText(limits: Readonly<Record<string, Limit>>): string {
  return Object.entries(limits)
    .map(([name, value]) => `\`${name}\` ${textOf(value)}`)
    .join(', ');
}

function textOf(value: Limit): string {
  if (typeof value === 'number') return String(value);
  const { min, max, default: without } = value;
  const range = max === undefined ? `from ${min}` : `${min} to ${max}`;
  return without === undefined ? range : `${range} (${without} without it)`;
}
