import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** Checks a time in UTC of an option, as RFC 3339 writes it. */
export function readTime(text: string): string {
  if (z.iso.datetime().safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a time in UTC, such as 2026-12-24T00:00:00Z.');
}
