import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { AgentVersion } from '#resources/agent-version';
import { describeVersion } from './describe-version.ts';

const folder = join(import.meta.dirname, '../../../crds/samples/valid');
const sample = (name: string) => parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as AgentVersion;

test('an A2A image is described by the card of its resource, as safe texts', () => {
  expect(describeVersion(sample('agent-version-image'))).toEqual({
    title: 'Helper',
    description: 'Answers questions about invoices.',
    protocol: 'a2a',
    implementationType: 'sdk',
    skills: [{ id: 'ask', name: 'Ask', description: 'Asks a model.', tags: ['model'] }],
  });
});

test('an MCP image is described by the name of its tool', () => {
  expect(describeVersion(sample('agent-version-image-tool'))).toMatchObject({
    protocol: 'mcp',
    implementationType: 'sdk',
    skills: [{ id: 'search', name: 'search', tags: ['tool'] }],
  });
});

test('an image whose card cannot be read is not described, and a flow is described by its manifest', () => {
  const image = sample('agent-version-image');
  const broken = { ...image, spec: { ...image.spec, sdk: { image: 'x', a2a: { card: '{' } } } };
  expect(describeVersion(broken)).toBeUndefined();
  expect(describeVersion(sample('agent-version-small'))).toMatchObject({
    title: 'Hello',
    implementationType: 'low-code',
  });
});
