import { z } from 'zod';

const readyLineSchema = z.looseObject({ listening: z.string() });

/** The line of JSON by which a service reports its address to its parent process, with further members. */
export type ReadyLine = z.infer<typeof readyLineSchema>;

export function writeReadyLine(fields: ReadyLine): void {
  process.stdout.write(`${JSON.stringify(fields)}\n`);
}

/** Parses the ready line of a service; undefined for any other line. */
export function readReadyLine(line: string): ReadyLine | undefined {
  try {
    return readyLineSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
