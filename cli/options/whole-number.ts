import { InvalidArgumentError } from 'commander';

/** Parses a whole number within bounds; `unit` names the counted things. */
export function wholeNumber(min: number, max: number, unit?: string): (text: string) => number {
  const digits = String(max).length;
  return (text) => {
    const value = /^\d+$/.test(text) && text.length <= digits ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    const of = unit === undefined ? '' : ` of ${unit}`;
    throw new InvalidArgumentError(`It must be a whole number${of} from ${min} to ${max}.`);
  };
}
