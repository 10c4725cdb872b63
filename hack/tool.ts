// Usage: hack/run hack/tool.ts (biome | tsc | vitest) [ARG...]: runs a development tool on the Node of this checkout.
import { runTool, toolNames } from './check/run-tool.ts';

const [name, ...args] = process.argv.slice(2);
const tool = toolNames.find((known) => known === name);
if (tool === undefined) {
  console.error(`portcullis: '${name ?? ''}' is not a tool of this checkout: choose one of ${toolNames.join(', ')}.`);
  process.exitCode = 2;
} else {
  process.exitCode = await runTool(tool, args);
}
