import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createByteBudget } from './byte-budget.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a byte budget can be used to its last byte, and disposing a reservation returns its bytes once', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  const first = budget.open();
  const second = budget.open();
  expect(first.take(60)).toBe(true);
  expect(second.take(40)).toBe(true);
  const late = second.take(1);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(await late).toBe(true);
  expect(budget.taken).toBe(41);
  expect(second.take(59)).toBe(true);
  expect(second.take(1)).toBe(false);
  second[Symbol.dispose]();
  expect(second.take(1)).toBe(false);
  expect(budget.taken).toBe(0);
});

test('bytes that a request releases are immediately available to others, and a request cannot release more than it holds', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  const [first, second] = [budget.open(), budget.open()];
  expect(first.take(100)).toBe(true);
  const waiting = second.take(30);
  first.release(29);
  expect(budget.taken).toBe(71);
  first.release(1);
  expect(await waiting).toBe(true);
  expect(budget.taken).toBe(100);
  first.release(1_000);
  expect(budget.taken).toBe(30);
  first[Symbol.dispose]();
  first.release(1);
  expect(budget.taken).toBe(30);
});

test('a request waits for bytes of the budget, and no longer than its time', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  const [first, second] = [budget.open(), budget.open()];
  expect(first.take(100)).toBe(true);
  let answer: boolean | undefined;
  void Promise.resolve(second.take(1)).then((taken) => {
    answer = taken;
  });
  await vi.advanceTimersByTimeAsync(9);
  expect(answer).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(answer).toBe(false);
  first[Symbol.dispose]();
  expect(budget.taken).toBe(0);
});

test('the oldest request always gets what one request needs, whatever the others hold', () => {
  const budget = createByteBudget({ limit: 100, largest: 40, waitMs: 10 });
  const oldest = budget.open();
  const others = Array.from({ length: 3 }, () => budget.open());
  expect(oldest.take(10)).toBe(true);
  expect(others.map((one) => one.take(30))).toEqual([true, true, expect.any(Promise)]);
  expect(oldest.take(30)).toBe(true);
  expect(budget.taken).toBe(100);
});

test('requests that each hold a part finish one after the other, and never hold more than the limit', async () => {
  const budget = createByteBudget({ limit: 256, largest: 40, waitMs: 1_000_000 });
  let most = 0;
  let left = 64;
  const finished = await Promise.all(
    Array.from({ length: 64 }, async () => {
      using bytes = budget.open();
      for (let piece = 0; piece < 19; piece += 1) {
        await Promise.resolve();
        if (!(await bytes.take(1))) return false;
        most = Math.max(most, budget.taken);
      }
      left -= 1;
      return true;
    }),
  );
  expect(finished.every(Boolean)).toBe(true);
  expect(left).toBe(0);
  expect(most).toBeGreaterThan(200);
  expect(most).toBeLessThanOrEqual(256);
  expect(budget.taken).toBe(0);
});

test('the requests of one caller hold half of the budget that is not reserved for the oldest request, and others the rest', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  using _oldest = budget.open();
  const open = (caller: string) => {
    const bytes = budget.open();
    bytes.countFor(caller);
    return bytes;
  };
  const [first, second, third] = [open('ann'), open('ann'), open('ann')];
  expect([first.take(15), second.take(10)]).toEqual([true, true]);
  const late = third.take(1);
  using other = open('bob');
  expect(other.take(25)).toBe(true);
  second.release(1);
  expect(await late).toBe(true);
  const refused = third.take(1);
  await vi.advanceTimersByTimeAsync(10);
  expect(await refused).toBe(false);
  first[Symbol.dispose]();
  expect(third.take(15)).toBe(true);
  expect(budget.taken).toBe(9 + 16 + 25);
});

test('requests of one caller that each need half of the budget end one after the other', async () => {
  const budget = createByteBudget({ limit: 100, largest: 60, waitMs: 1_000_000 });
  let most = 0;
  const finished = await Promise.all(
    Array.from({ length: 8 }, async () => {
      using bytes = budget.open();
      bytes.countFor('ann');
      for (let piece = 0; piece < 5; piece += 1) {
        await Promise.resolve();
        if (!(await bytes.take(10))) return false;
        most = Math.max(most, budget.taken);
      }
      return true;
    }),
  );
  expect(finished).toEqual(Array.from({ length: 8 }, () => true));
  expect(most).toBeLessThanOrEqual(100);
  expect(budget.taken).toBe(0);
});

describe('callers that share bytes', () => {
  /** Half of the limit is reserved for the oldest request. */
  const open = (limit: number) => {
    const budget = createByteBudget({ limit, largest: limit / 2, waitMs: 1_000 });
    const of = (caller: string) => {
      const bytes = budget.open();
      bytes.shareFor(caller);
      return bytes;
    };
    return { budget, of };
  };
  /** The answer to a request for bytes so far. */
  const later = (taken: boolean | Promise<boolean>) => {
    const state: { taken: boolean | undefined } = { taken: undefined };
    void Promise.resolve(taken).then((answer) => {
      state.taken = answer;
    });
    return state;
  };
  const settled = () => vi.advanceTimersByTimeAsync(0);

  test('a caller takes all that is not reserved while no other caller has asked for a minute, and half before', async () => {
    const { budget, of } = open(100);
    using _oldest = of('ann');
    using ann = of('ann');
    expect(ann.take(50)).toBe(true);
    ann.release(50);
    {
      using bob = of('bob');
      expect(bob.take(1)).toBe(true);
    }
    await vi.advanceTimersByTimeAsync(59_999);
    expect(ann.take(25)).toBe(true);
    const early = later(ann.take(1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(early.taken).toBe(false);
    expect(ann.take(25)).toBe(true);
    expect(budget.taken).toBe(50);
  });

  test('two callers that ask have half each, and a request without bytes is not one that asks', () => {
    const { of } = open(100);
    using _oldest = of('ann');
    using ann = of('ann');
    using bob = of('bob');
    expect(ann.take(26)).toBe(true);
    expect(bob.take(24)).toBe(true);
    expect(ann.take(1)).toBeInstanceOf(Promise);
    ann.release(3);
    expect(bob.take(1)).toBe(true);
    expect(bob.take(1)).toBeInstanceOf(Promise);
  });

  test('bytes of a caller that holds all of them are given to another one that waits', async () => {
    const { budget, of } = open(100);
    using _oldest = of('ann');
    const held = Array.from({ length: 5 }, () => of('ann'));
    for (const one of held) expect(one.take(10)).toBe(true);
    using more = of('ann');
    using bob = of('bob');
    const [ofAnn, ofBob] = [later(more.take(10)), later(bob.take(20))];
    held[0]?.[Symbol.dispose]();
    await settled();
    expect([ofAnn.taken, ofBob.taken, budget.taken]).toEqual([undefined, undefined, 40]);
    held[1]?.[Symbol.dispose]();
    await settled();
    expect([ofAnn.taken, ofBob.taken, budget.taken]).toEqual([undefined, true, 50]);
    held[2]?.[Symbol.dispose]();
    held[3]?.[Symbol.dispose]();
    await settled();
    expect([ofAnn.taken, budget.taken]).toEqual([true, 40]);
  });

  test('callers that wait have equal shares, and one that needs more than its share holds up none', async () => {
    const { budget, of } = open(120);
    using _oldest = of('dan');
    const held = Array.from({ length: 6 }, () => of('dan'));
    for (const one of held) expect(one.take(10)).toBe(true);
    const end = async (count: number) => {
      for (const one of held.splice(0, count)) one[Symbol.dispose]();
      await settled();
    };
    using bob = of('bob');
    using dan = of('dan');
    using carl = of('carl');
    using ann = of('ann');
    const waits = [bob.take(25), dan.take(10), carl.take(10), ann.take(10)].map(later);
    const answers = () => waits.map(({ taken }) => taken);
    await end(1);
    expect(answers()).toEqual([undefined, undefined, true, undefined]);
    await end(1);
    expect(answers()).toEqual([undefined, undefined, true, true]);
    await end(3);
    expect(answers()).toEqual([undefined, true, true, true]);
    await end(1);
    expect(answers()).toEqual([true, true, true, true]);
    expect(budget.taken).toBe(55);
  });

  test('a request whose time is over no longer bounds the others', async () => {
    const { of } = open(120);
    using _oldest = of('eve');
    using eve = of('eve');
    using dan = of('dan');
    expect([eve.take(25), dan.take(20)]).toEqual([true, true]);
    using bob = of('bob');
    using carl = of('carl');
    const waits = [bob.take(16), carl.take(16)].map(later);
    await vi.advanceTimersByTimeAsync(500);
    const late = later(dan.take(5));
    await vi.advanceTimersByTimeAsync(499);
    expect(late.taken).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect([late.taken, ...waits.map(({ taken }) => taken)]).toEqual([true, false, false]);
  });

  test('requests of several callers that each need half of the budget all end, and never hold more than the limit', async () => {
    const { budget, of } = open(100);
    let most = 0;
    const finished = await Promise.all(
      Array.from({ length: 30 }, async (_, at) => {
        using bytes = of(['ann', 'bob', 'carl'][at % 3] ?? '');
        for (let piece = 0; piece < 5; piece += 1) {
          await Promise.resolve();
          if (!(await bytes.take(10))) return false;
          most = Math.max(most, budget.taken);
        }
        return true;
      }),
    );
    expect(finished.every(Boolean)).toBe(true);
    expect(most).toBeLessThanOrEqual(100);
    expect(budget.taken).toBe(0);
  });
});

test('a request that holds bytes counts for its caller', () => {
  const budget = createByteBudget({ limit: 100, largest: 10, waitMs: 10 });
  using bytes = budget.open();
  expect(bytes.take(1)).toBe(true);
  expect(() => bytes.countFor('ann')).toThrow(TypeError);
});

test('no bytes are reserved for a request that needs no more, and the next one is the oldest', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  const [first, second, third] = [budget.open(), budget.open(), budget.open()];
  expect([first.take(10), second.take(40)]).toEqual([true, true]);
  // The first request needs 50 bytes, of which it still lacks 40.
  const kept = second.take(20);
  expect(kept).toBeInstanceOf(Promise);
  first.settle();
  expect(await kept).toBe(true);
  expect([first.take(1), budget.taken]).toEqual([false, 70]);
  expect([third.take(30), budget.taken]).toEqual([true, 100]);
  const late = third.take(1);
  first.settle();
  first.release(4);
  expect([await late, budget.taken]).toEqual([true, 97]);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(budget.taken).toBe(91);
});

test('a request that settles while it waits for bytes does not get them', async () => {
  const budget = createByteBudget({ limit: 100, largest: 50, waitMs: 10 });
  const [first, second] = [budget.open(), budget.open()];
  expect(first.take(100)).toBe(true);
  const waiting = second.take(1);
  second.settle();
  expect(await waiting).toBe(false);
  first[Symbol.dispose]();
  expect(budget.taken).toBe(0);
});
