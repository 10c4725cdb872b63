import type { ConsoleContext } from './environment.ts';

/** All texts of one member of a form, in the order of the page. */
export async function readRepeated(context: ConsoleContext, name: string): Promise<readonly string[]> {
  const form: Readonly<Record<string, unknown>> = await context.req.parseBody({ all: true });
  const values = [form[name] ?? []].flat();
  return values.flatMap((value) => (typeof value === 'string' ? [value.replaceAll('\r\n', '\n')] : []));
}

/** The text members of a form; files and repeated members are left out. */
export async function readForm(context: ConsoleContext): Promise<Readonly<Record<string, string>>> {
  const form: Readonly<Record<string, unknown>> = await context.req.parseBody();
  return Object.fromEntries(
    Object.entries(form).flatMap(([name, value]) =>
      // Forms send line ends as CRLF.
      typeof value === 'string' ? [[name, value.replaceAll('\r\n', '\n')] as const] : [],
    ),
  );
}
