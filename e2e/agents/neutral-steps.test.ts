import { expect } from 'vitest';
import { readTree } from '../../hack/boundaries/tree.ts';
import { root } from '../../hack/check/run-tool.ts';
import { verifies } from '../support/verifies.ts';

const neutral = /^(libraries\/flow|dataplane\/agents\/(bundle|calls|policies|ports|steps))\//;
const protocol = /(^|\/|#)(a2a|mcp|tasks|http)\//;

verifies(
  ['agents:internal-model:not-canonical'],
  'the flow and the steps of a call do not import any protocol code',
  () => {
    const { sources } = readTree(root);
    const files = [...sources.values()].filter(({ path, isTest }) => neutral.test(path) && !isTest);
    expect(files.length).toBeGreaterThan(50);
    const found = files.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => protocol.test(specifier) && !specifier.startsWith('#kit/'))
        .map(({ specifier }) => `${path} imports ${specifier}`),
    );
    expect(found).toEqual([]);
  },
);
