import type { Command } from 'commander';
import { z } from 'zod';
import { apiVersion, type Kind, kinds } from '#resources/kinds';
import { presentations } from '#resources/presentation';
import { schemaOf } from '#resources/schemas';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { type FieldSchema, findField, type Member, membersOf, rulesOf, typeOf } from '../explaining/find-field.ts';
import { formatOf, type OutputOptions, withUnnamedOutput, writeResult } from '../output/format.ts';
import { resourceKind } from '../resources/resource-kind.ts';

type ExplainOptions = OutputOptions & { readonly recursive?: boolean };

export function addExplain(program: Command): void {
  const command = program
    .command('explain')
    .description('describe a kind, or one of its fields with type, choices and default')
    .argument('<kind>', 'such as policy or binding; a field as in policy.spec.definition')
    .option('--recursive', 'show all fields below it by name and type');
  withUnnamedOutput(command).action(explain);
}

function explain(word: string, { recursive = false, ...output }: ExplainOptions): void {
  const [kindWord = '', ...path] = word.split('.');
  const kind = resourceKind(kindWord);
  const found = findField(schemaOfKind(kind), path);
  if (!found.ok) {
    const where = [kind.kind, ...path.slice(0, path.indexOf(found.missing))].join('.');
    const known = found.known.length === 0 ? 'it has no fields' : `it has ${found.known.join(', ')}`;
    throw new CliError(
      'not_found',
      `${where} has no field ${JSON.stringify(found.missing)}: ${known}.${didYouMean(found.missing, found.known)}`,
    );
  }
  const { schema } = found;
  const members = membersOf(schema);
  const fields = recursive ? treeOf(members, '  ') : members.flatMap(memberLines);
  const value = { kind: kind.kind, apiVersion, path, description: descriptionOf(kind, path, schema), schema };
  writeResult(formatOf(output), value, () =>
    [
      `KIND:     ${kind.kind}`,
      `VERSION:  ${apiVersion}`,
      ...(path.length === 0 ? [] : ['', `FIELD:    ${path.at(-1)} <${typeOf(schema)}>`, ...indent(rulesOf(schema))]),
      '',
      'DESCRIPTION:',
      ...indent([descriptionOf(kind, path, schema)]),
      ...(fields.length === 0 ? [] : ['', 'FIELDS:', ...fields]),
    ].join('\n'),
  );
}

function schemaOfKind(kind: Kind): FieldSchema {
  return z.toJSONSchema(schemaOf(kind), { io: 'input', reused: 'inline', unrepresentable: 'any' }) as FieldSchema;
}

function descriptionOf(kind: Kind, path: readonly string[], { description, items }: FieldSchema): string {
  if (path.length > 0) return description ?? items?.description ?? 'There is no description.';
  const key = Object.entries(kinds).find(([, one]) => one.kind === kind.kind)?.[0] as keyof typeof kinds;
  return presentations[key].description;
}

function memberLines({ name, schema, isRequired }: Member): readonly string[] {
  const head = `  ${name} <${typeOf(schema)}>${isRequired ? ' -required-' : ''}`;
  const description = schema.description ?? schema.items?.description;
  return [head, ...indent([...(description === undefined ? [] : [description]), ...rulesOf(schema)]), ''];
}

function treeOf(members: readonly Member[], blank: string): readonly string[] {
  return members.flatMap(({ name, schema, isRequired }) => [
    `${blank}${name} <${typeOf(schema)}>${isRequired ? ' -required-' : ''}`,
    ...treeOf(membersOf(schema), `${blank}  `),
  ]);
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `    ${line}`);
}
