import type { Command } from 'commander';
import { z } from 'zod';
import { conditionSchema, type Resource, type Stored } from '#crds/metadata';
import { tableOf, writeJson, writeText, yamlOf } from '../output/write.ts';
import { openResources } from '../platform/running-platform.ts';
import { readResource } from '../read-resource.ts';
import { resourceKind } from '../resource-kind.ts';
import { type PlatformCommandOptions, withPlatformOptions } from './platform-options.ts';

export function addDescribe(program: Command): void {
  const command = program
    .command('describe')
    .description('show one resource with its conditions in words')
    .argument('<kind>', 'such as guardrailpolicy, modelbinding, gp or mb')
    .argument('<name>', 'name of the resource');
  withPlatformOptions(command).action(describe);
}

async function describe(word: string, name: string, options: PlatformCommandOptions): Promise<void> {
  const kind = resourceKind(word);
  await using client = openResources(options.data, options.namespace);
  const found = await readResource(client, kind, name);
  if (options.json === true) return writeJson(found);
  writeText(description(found));
}

const statusSchema = z.looseObject({ conditions: z.array(conditionSchema).optional() });

/** A resource in words: what it is, what it wants, and what is the case. */
export function description({ kind, metadata, spec, status }: Stored<Resource>): string {
  const { conditions = [], ...rest } = statusSchema.catch({}).parse(status ?? {});
  const head = tableOf([
    ['Name:', metadata.name],
    ['Kind:', kind],
    ['Namespace:', metadata.namespace ?? '-'],
    ['Created:', metadata.creationTimestamp],
    ['Generation:', String(metadata.generation)],
    ['Labels:', pairs(metadata.labels)],
  ]);
  const rows = conditions.map(({ type, status: value, reason, message }) => [`  ${type}`, value, reason, message]);
  return [
    head,
    `Spec:\n${indent(yamlOf(spec))}`,
    Object.keys(rest).length === 0 ? 'Status: {}' : `Status:\n${indent(yamlOf(rest))}`,
    rows.length === 0 ? 'Conditions: none' : `Conditions:\n${tableOf(rows)}`,
  ].join('\n');
}

function pairs(labels: Readonly<Record<string, string>> | undefined): string {
  const all = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return all.length === 0 ? '-' : all.join(' ');
}

function indent(text: string): string {
  return text.trimEnd().replace(/^(?=.)/gm, '  ');
}
