import { closeSync, openSync, readSync } from 'node:fs';

const headBytes = 20;
const magic = 0x7f454c46;
const machineOffset = 18;

/** The machine type in the head of an ELF file; undefined for every other file. */
function machineTypeOf(path: string): number | undefined {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(headBytes);
    if (readSync(file, head, 0, headBytes, 0) < headBytes || head.readUInt32BE(0) !== magic) return undefined;
    return head.readUInt16LE(machineOffset);
  } finally {
    closeSync(file);
  }
}

const ownType = machineTypeOf(process.execPath);

/** Whether an addon was made for the system and the processor of this Node. */
export function isForThisMachine(path: string): boolean {
  return machineTypeOf(path) === ownType;
}
