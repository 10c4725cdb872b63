import type { ByteProgram } from './byte-program.ts';

/** Bytes that every instruction treats alike share a class. */
type ByteClasses = {
  readonly classOf: Uint8Array;
  readonly count: number;
  /** One representative byte of each class. */
  readonly samples: Uint8Array;
};

/** Whether RE2 counts the byte as a word character. */
export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x5f || (byte >= 0x61 && byte <= 0x7a)
  );
}

/** The classes of a program; with conditions in it newline and word characters are separate classes. */
export function byteClasses(program: ByteProgram): ByteClasses {
  let classes = new Map<string, number>();
  const classOf = new Uint8Array(256);
  const seen = new Set<string>();
  const refine = (label: (byte: number) => string | number) => {
    classes = new Map();
    for (let byte = 0; byte < 256; byte += 1) {
      const key = `${classOf[byte] ?? 0}:${label(byte)}`;
      const number = classes.get(key) ?? classes.size;
      classes.set(key, number);
      classOf[byte] = number;
    }
  };
  refine(() => 0);
  let conditions = 0;
  for (const instruction of program.instructions) {
    if (instruction.kind === 'condition') conditions |= instruction.needs;
    if (instruction.kind !== 'bytes') continue;
    const labels = edgeLabels(instruction.edges);
    const key = labels.join();
    if (seen.has(key)) continue;
    seen.add(key);
    refine((byte) => labels[byte] ?? 0);
  }
  if (conditions !== 0) refine((byte) => (byte === 0x0a ? 2 : isWordByte(byte) ? 1 : 0));
  const samples = new Uint8Array(classes.size);
  for (let byte = 255; byte >= 0; byte -= 1) samples[classOf[byte] ?? 0] = byte;
  return { classOf, count: classes.size, samples };
}

/** For each byte, the number of the combination of targets that it selects, in order of appearance. */
function edgeLabels(edges: readonly number[]): string[] {
  const numbers = new Map<number, number>();
  const labels = new Array<string>(256).fill('');
  for (let at = 0; at < edges.length; at += 3) {
    const target = edges[at + 2] ?? 0;
    const number = numbers.get(target) ?? numbers.size + 1;
    numbers.set(target, number);
    for (let byte = edges[at] ?? 0; byte <= (edges[at + 1] ?? 0); byte += 1) labels[byte] += `${number}.`;
  }
  return labels;
}
