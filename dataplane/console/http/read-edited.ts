import {
  mostFormRules,
  type PolicyForm,
  type RuleFields,
  ruleFieldNames,
  writePolicyForm,
} from '../clients/policy-form.ts';
import type { ConsoleContext } from './environment.ts';

/** The edited policy: its source, and the form that the source was written from. */
type Edited = { readonly source: string; readonly form: PolicyForm | undefined };

/** Reads the editor of a request. A form whose rules have different numbers of fields has an empty source, which no check accepts. */
export async function readEdited(context: ConsoleContext): Promise<Edited> {
  const sent: Readonly<Record<string, unknown>> = await context.req.parseBody({ all: true });
  // Forms send line ends as CRLF.
  const all = (name: string): readonly string[] =>
    [sent[name] ?? []].flat().flatMap((value) => (typeof value === 'string' ? [value.replaceAll('\r\n', '\n')] : []));
  const one = (name: string): string => all(name)[0] ?? '';
  if (one('as') !== 'form') return { source: one('source'), form: undefined };
  const columns = ruleFieldNames.map((name) => all(`rule.${name}`));
  const count = columns[0]?.length ?? 0;
  if (count > mostFormRules || columns.some((column) => column.length !== count))
    return { source: '', form: undefined };
  const rules = Array.from({ length: count }, (_, at) => {
    const fields = ruleFieldNames.map((name, column) => [name, columns[column]?.[at] ?? '']);
    return Object.fromEntries(fields) as RuleFields;
  });
  const form: PolicyForm = {
    name: one('name'),
    description: one('description'),
    requestDeadlineMs: one('requestDeadlineMs'),
    responseDeadlineMs: one('responseDeadlineMs'),
    providers: one('providers'),
    rules,
  };
  return { source: writePolicyForm(form), form };
}
