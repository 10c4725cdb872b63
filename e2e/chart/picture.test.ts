import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../hack/check/run-tool.ts';
import { missingHelm } from './tools/helm.ts';
import { renderFile, valuesFiles } from './tools/render-chart.ts';

/** Words of the picture for the labels of components that it names otherwise. */
const words: Readonly<Record<string, string>> = { postgres: 'PostgreSQL', worker: 'retrieval' };
/** Kinds of objects with pods that run until they are removed. */
const served = new Set(['Deployment', 'StatefulSet']);
/** The second role of a service, in the box of the service. */
const worker = /-(worker|reindexer)$/;

test.skipIf(missingHelm !== undefined)(
  'the picture of the architecture has a box for each component of the chart, and for what the operator starts',
  async () => {
    const objects = (await Promise.all(valuesFiles.map(renderFile))).flat();
    const components = new Set(
      objects
        .filter(({ kind }) => served.has(kind))
        .map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] ?? '')
        .map((component) => component.replace(worker, '')),
    );
    expect(components.size).toBeGreaterThan(7);
    const picture = readFileSync(join(root, 'docs/architecture.svg'), 'utf8');
    const texts = [...picture.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text).join('\n');
    const expected = [...components].map((component) => words[component] ?? component);
    const missing = [...expected, 'runtime', 'agents'].filter((word) => !new RegExp(`\\b${word}\\b`).test(texts));
    expect(missing).toEqual([]);
  },
);
