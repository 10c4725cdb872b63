const keyForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The idempotency key that an editor has sent; undefined for another text. */
export function keptKey({ key = '' }: Readonly<Record<string, string>>): string | undefined {
  return keyForm.test(key) ? key : undefined;
}
