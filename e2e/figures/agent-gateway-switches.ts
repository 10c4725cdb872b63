import { measureSwitches } from '../agents/measure-switches.ts';
import type { Figure } from '../support/figure.ts';

const sizes = { full: { switches: 50, callers: 8 }, small: { switches: 4, callers: 2 } } as const;

export const figure: Figure = {
  name: 'agent-gateway-switches',
  title:
    'an agent is switched from version to version under whole and streamed runs without a pause, each stream asks for a token of its run in the middle, and each process ends once no call uses it: no call fails or reaches a version that is not served; with kills of every second served process, only its runs end, each with a code, and none runs twice',
  async run(size, say) {
    const { switches, callers } = sizes[size];
    const steady = await measureSwitches({ switches, kills: false, callers, say });
    const broken = await measureSwitches({ switches, kills: true, callers, say });
    for (const why of [...steady.untyped, ...broken.untyped].slice(0, 5)) say(why);
    say(`codes: ${JSON.stringify([steady.codes, broken.codes])}`);
    const failed = steady.calls - steady.whole;
    const isRouted = [steady, broken].every(({ misrouted, twice }) => misrouted === 0 && twice === 0);
    return {
      holds: failed === 0 && isRouted && broken.typed > 0 && broken.untyped.length === 0 && broken.foreign === 0,
      line:
        `${switches} switches under ${steady.calls} calls: ${failed} failed, ${steady.misrouted} misrouted; with ` +
        `${Math.floor(switches / 2)} kills under ${broken.calls} calls: ${broken.typed} ended with a code, ` +
        `${broken.untyped.length} without one, ${broken.foreign} of them not by a kill, ${broken.misrouted} misrouted, ` +
        `${steady.twice + broken.twice} run twice`,
    };
  },
};
