/** The types of WebAssembly belong to the browser's library, which Node's programs do not include. */
declare const WebAssembly: {
  readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: object };
};

export type WasmMemory = {
  /** The buffer of the memory, which is replaced by another buffer when the memory grows. */
  readonly buffer: ArrayBuffer;
  /** @throws RangeError past the maximum, or if the machine has no memory left */
  grow(pages: number): number;
};

/** Bytes of a page of a WebAssembly memory. */
export const pageBytes = 65_536;

/** Vectors are padded with zeros to whole steps of this many bytes: 16 numbers of 32 bits. */
export const stepBytes = 64;

/**
 * Writes the dot products of a vector with others; all arguments are addresses in bytes except `count`, which is at
 * least 1, and `bytes`, the padded size of each vector. `rows` contains the 32-bit addresses of the other vectors;
 * 32-bit floating-point numbers are written to `results`.
 */
export type DotProducts = (rows: number, count: number, query: number, bytes: number, results: number) => void;

export function openDotProducts(pages: { initial: number; maximum: number }): {
  readonly memory: WasmMemory;
  readonly dotProducts: DotProducts;
} {
  const memory = new WebAssembly.Memory(pages);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()), { own: { memory } });
  const { dotProducts } = instance.exports as { readonly dotProducts: DotProducts };
  return { memory, dotProducts };
}

// Opcodes of the WebAssembly core specification 2.0, chapter 5.4, from which this module is assembled: for JavaScript,
// V8 does not use the vector instructions of a processor, with which a scan takes a fifth of the time.
const i32 = 0x7f;
const v128 = 0x7b;
const empty = 0x40;
const end = 0x0b;
const loop = [0x03, empty];
const branchBackIf = [0x0d, 0];
const i32Add = 0x6a;
const i32Subtract = 0x6b;
const i32LessUnsigned = 0x49;
const i32Load = [0x28, 2, 0];
const f32Store = [0x38, 2, 0];
const f32Add = 0x92;
const f32x4Add = [0xfd, 0xe4, 0x01];
const f32x4Multiply = [0xfd, 0xe6, 0x01];
const f32x4Zero = [0xfd, 0x0c, ...new Array<number>(16).fill(0)];
const f32x4Load = (offset: number): readonly number[] => [0xfd, 0x00, 4, offset];
const f32x4Lane = (lane: number): readonly number[] => [0xfd, 0x1f, lane];
const get = (local: number): readonly number[] => [0x20, local];
const set = (local: number): readonly number[] => [0x21, local];
const tee = (local: number): readonly number[] => [0x22, local];
/** A constant, as two bytes of signed LEB128. */
const constant = (value: number): readonly number[] => [0x41, (value & 0x7f) | 0x80, value >> 7];

const [rows, count, query, bytes, results, row, part, partEnd] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const sums = [8, 9, 10, 11] as const;

/** results[i] = sum of query * rows[i], with four sums of four lanes each; the loops end after their last step. */
function functionBody(): readonly number[] {
  const [first, second, third, fourth] = sums;
  const lanes = [0, 1, 2, 3].map((lane) => [...get(first), ...f32x4Lane(lane)]);
  const code = [
    ...loop,
    ...[...get(rows), ...i32Load, ...set(row)],
    ...[...get(query), ...tee(part), ...get(bytes), i32Add, ...set(partEnd)],
    ...sums.flatMap((sum) => [...f32x4Zero, ...set(sum)]),
    ...loop,
    ...sums.flatMap((sum, at) => [
      ...[...get(sum), ...get(row), ...f32x4Load(16 * at), ...get(part), ...f32x4Load(16 * at)],
      ...[...f32x4Multiply, ...f32x4Add, ...set(sum)],
    ]),
    ...[...get(row), ...constant(stepBytes), i32Add, ...set(row)],
    ...[...get(part), ...constant(stepBytes), i32Add, ...tee(part)],
    ...[...get(partEnd), i32LessUnsigned, ...branchBackIf, end],
    ...[...get(first), ...get(second), ...f32x4Add, ...get(third), ...get(fourth), ...f32x4Add, ...f32x4Add],
    ...set(first),
    ...get(results),
    ...[...(lanes[0] ?? []), ...(lanes[1] ?? []), f32Add, ...(lanes[2] ?? []), ...(lanes[3] ?? []), f32Add, f32Add],
    ...f32Store,
    ...[...get(rows), ...constant(4), i32Add, ...set(rows)],
    ...[...get(results), ...constant(4), i32Add, ...set(results)],
    ...[...get(count), ...constant(1), i32Subtract, ...tee(count), ...branchBackIf, end],
    end,
  ];
  // Three locals of the type i32 and four of the type v128.
  return [2, 3, i32, 4, v128, ...code];
}

function moduleBytes(): Uint8Array<ArrayBuffer> {
  const body = functionBody();
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 5, i32, i32, i32, i32, i32, 0]),
    ...section(2, [1, ...name('own'), ...name('memory'), 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, ...name('dotProducts'), 0, 0]),
    ...section(10, [1, ...length(body), ...body]),
  ]);
}

const name = (text: string): readonly number[] => [text.length, ...Buffer.from(text)];
const section = (id: number, content: readonly number[]): readonly number[] => [id, ...length(content), ...content];
/** The length of a content as two bytes of unsigned LEB128. */
const length = (content: readonly number[]): readonly number[] => [(content.length & 0x7f) | 0x80, content.length >> 7];
