import { z } from 'zod';

/**
 * A string whose length is counted in code points, as JSON Schema and Kubernetes count; a code point has one or two
 * UTF-16 units (`guardrail:request-body:role-length-1-to-32`).
 */
export function codePoints(min: number, max: number): z.ZodString {
  const isWithin = (text: string): boolean => {
    if (text.length <= max) return true;
    return text.length <= 2 * max && [...text].length <= max;
  };
  const text = min > 0 ? z.string().min(min) : z.string();
  return text.refine(isWithin, `is longer than ${max} code points`).meta({ maxLength: max });
}
