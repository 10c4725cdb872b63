import { folderRules } from './folder-rules.ts';
import { importRules } from './import-rules.ts';
import { layerRules } from './layer-rules.ts';
import { pageRules } from './page-rules.ts';
import { reachRules } from './reach-rules.ts';
import { shapeRules } from './shape-rules.ts';
import { testRules } from './test-rules.ts';
import { textRules } from './text-rules.ts';
import type { BoundaryRule } from './tree.ts';

/** All boundary rules about the layout of this checkout (ARCHITECTURE.md). */
export const allRules: readonly BoundaryRule[] = [
  ...importRules,
  ...folderRules,
  ...layerRules,
  ...reachRules,
  ...shapeRules,
  ...textRules,
  ...testRules,
  ...pageRules,
];
