import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { assembleBundle } from '#contracts/assemble-bundle';
import { defaultBundleLimits } from '#contracts/bundle';
import type { JudgeJob, JudgeVerdict } from '#contracts/judge';
import { type Definition, definitionSchema } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import { judgeBundle } from '../judge-bundle.ts';

type Check = Omit<JudgeJob['checks'][number], 'policyId'>;
type ExampleTest = Check & { readonly expect: 'Pass' | 'Reject' | 'Mask' };

/** A policy file of `examples/` with its tests. */
export type ExamplePolicy = {
  readonly file: string;
  readonly definition: Definition;
  readonly tests: readonly ExampleTest[];
};

/** The policies of one folder of `examples/`. */
export function readExamples(folder: string): readonly ExamplePolicy[] {
  const path = join(import.meta.dirname, '../../../examples', folder);
  return readdirSync(path)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => {
      const { kind, spec } = parse(readFileSync(join(path, file), 'utf8'));
      if (kind !== 'GuardrailPolicy') return [];
      return [{ file, definition: definitionSchema.parse(spec.definition), tests: spec.tests }];
    });
}

/** Admits a policy with the default limits and runs its tests. */
export async function judgeExample({ file, definition, tests }: ExamplePolicy): Promise<JudgeVerdict> {
  const assembled = assembleBundle({
    policyId: file,
    revision: '1',
    definition,
    contentProfile: currentProfile,
    limits: defaultBundleLimits,
    approved: [],
  });
  if (assembled.kind === 'refused') throw new Error(assembled.message);
  const checks = tests.map(({ expect: _, ...check }) => ({ ...check, policyId: file }));
  return judgeBundle({ bundle: assembled.bytes.toString('utf8'), checks });
}
