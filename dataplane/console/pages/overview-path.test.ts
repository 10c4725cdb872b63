import { expect, test } from 'vitest';
import type { OverviewModel } from '#contracts/overview';
import { overviewPathOf } from './overview.ts';

const models = Array.from({ length: 81 }, (_, at) => ({ modelId: `m${at}` }) as OverviewModel);

test.each([
  ['m0', '/overview'],
  ['m39', '/overview'],
  ['m40', '/overview?models=2'],
  ['m79', '/overview?models=2'],
  ['m80', '/overview?models=3'],
  ['absent', '/overview'],
])('the overview lists the model %s at %s', (model, path) => {
  expect(overviewPathOf(models, model)).toBe(path);
});
