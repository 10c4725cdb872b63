import { expect, test } from 'vitest';
import { startVirtualTime } from './virtual-time.ts';

test('a timer that was set by a timer of a process ends with that process', async () => {
  using time = startVirtualTime(1);
  const ran: string[] = [];
  const everySecond = (name: string): void => {
    setTimeout(() => {
      ran.push(name);
      everySecond(name);
    }, 1_000);
  };
  const [killed, frozen, other] = ['killed', 'frozen', 'other'].map((name) => {
    const life = time.startLife(name);
    time.runAs(life, () => everySecond(name));
    return life;
  });
  await time.advance(2_500);
  killed?.kill();
  frozen?.freeze();
  await time.advance(2_000);
  expect(ran).toEqual(['killed', 'frozen', 'other', 'killed', 'frozen', 'other', 'other', 'other']);
  frozen?.thaw();
  other?.kill();
  await time.advance(1_000);
  expect(ran.slice(8)).toEqual(['frozen', 'frozen']);
});
