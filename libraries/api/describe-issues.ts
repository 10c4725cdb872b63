import type { z } from 'zod';
import type { ErrorDetail } from './operation.ts';

/** Further problems are reported once these are corrected. */
const maxDetails = 20;

/** One detail for each invalid member. Values are never included; of unknown members at most the names. */
export function describeIssues(error: z.ZodError): readonly ErrorDetail[] {
  return error.issues.slice(0, maxDetails).map((issue) => ({
    path: pointerOf(issue.path),
    message: sentenceOf(issue),
  }));
}

function pointerOf(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function sentenceOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const plain = issue.keys.filter((key) => /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(key));
      const names = plain.length === issue.keys.length ? `: ${plain.join(', ')}` : '';
      return `contains unknown members${names}`;
    }
    case 'invalid_type':
      return `must be ${issue.expected}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_format':
      return `must have the form ${issue.format === 'regex' ? (issue.pattern ?? 'of the schema') : issue.format}`;
    default:
      return issue.message;
  }
}
