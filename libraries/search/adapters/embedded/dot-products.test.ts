import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mostDimensions, mostRows, VectorMemory, vectorBytes } from './vector-memory.ts';

/**
 * Products of 32-bit numbers, added in the order of the vector instructions, differ from exact products by at most this
 * value.
 */
const tolerance = 1e-5;

test('dot products of random vectors equal those of a plain loop, whatever their number of dimensions', () => {
  const memory = new VectorMemory();
  const numbers = fc.float({ min: -1, max: 1, noNaN: true });
  const dimensions = fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constantFrom(384, 1_536));
  const vectors = dimensions.chain((length) =>
    fc.array(fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true }), {
      minLength: 1,
      maxLength: 5,
    }),
  );
  fc.assert(
    fc.property(vectors, numbers, (list, scale) => {
      const query = list[0]!.map((number) => number * scale);
      const page = memory.allocate();
      const addresses = list.map((vector, at) => {
        memory.write(page + at * vectorBytes(vector.length), vector);
        return page + at * vectorBytes(vector.length);
      });
      const products = [...memory.dotProducts(query, Uint32Array.from(addresses), list.length)];
      memory.release([page]);
      for (const [at, vector] of list.entries()) {
        const exact = vector.reduce((sum, number, no) => sum + number * (query[no] as number), 0);
        expect(Math.abs((products[at] as number) - exact)).toBeLessThan(tolerance * Math.sqrt(vector.length));
      }
    }),
    { numRuns: 200 },
  );
});

test('the vector memory grows past its first pages, keeps its content, and clears a page that was released', () => {
  const memory = new VectorMemory();
  const query = Float32Array.of(1, 1);
  const pages = Array.from({ length: 200 }, (_, at) => {
    const page = memory.allocate();
    memory.write(page, Float32Array.of(at, 0.5));
    return page;
  });
  expect([...memory.dotProducts(query, Uint32Array.from(pages), 200)]).toEqual(pages.map((_, at) => at + 0.5));
  memory.release(pages.splice(7, 1));
  expect([...memory.dotProducts(query, Uint32Array.of(memory.allocate()), 1)]).toEqual([0]);
});

test('no rows yield no products, and the largest vector and number of rows fit', () => {
  const memory = new VectorMemory();
  expect([...memory.dotProducts(Float32Array.of(1), new Uint32Array(1), 0)]).toEqual([]);
  const page = memory.allocate();
  memory.write(page, new Float32Array(mostDimensions).fill(1));
  const addresses = new Uint32Array(mostRows).fill(page);
  const products = memory.dotProducts(new Float32Array(mostDimensions).fill(1), addresses, mostRows);
  expect([products.length, products[0], products.at(-1)]).toEqual([mostRows, mostDimensions, mostDimensions]);
});
