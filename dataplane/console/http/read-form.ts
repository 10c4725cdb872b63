import type { ConsoleContext } from './environment.ts';

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
