/** A MicroTime of Kubernetes (meta/v1): RFC 3339 in UTC with exactly six digits of a second. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
