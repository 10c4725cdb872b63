import { measureChecks } from './checks.ts';
import { compareFrameworks, type FrameworkReport, prepareFrameworks } from './compare-frameworks.ts';
import { engineCases } from './engine-cases.ts';
import { measureGateway } from './gateway-case.ts';
import { measureRelay, relayRounds } from './relay-case.ts';
import type { Measured } from './report.ts';
import { measureStart } from './start-case.ts';
import { type Timed, timeCase } from './time-cases.ts';

async function timeEngine(quick: boolean): Promise<readonly Timed[]> {
  const timed: Timed[] = [];
  for (const one of engineCases()) timed.push(await timeCase(one, quick ? 11 : 31));
  return timed;
}

/** The comparison with other frameworks; undefined if their packages cannot be installed. */
async function timeFrameworks(): Promise<FrameworkReport | undefined> {
  const python = await prepareFrameworks();
  if (python.ok) return compareFrameworks(python.path, 15, console.log);
  console.log(`not measured: ${python.reason}`);
  return undefined;
}

/**
 * Runs every benchmark in order; with `quick`, fewer and shorter rounds are run, and the other frameworks are omitted.
 */
export async function measureAll(quick: boolean): Promise<Measured> {
  console.log('checks over HTTP ...');
  const windowMs = quick ? 500 : 1_500;
  const checks = await measureChecks({ rounds: quick ? 7 : 11, windowMs, connections: 32, warmUpMs: 2_500 });
  console.log('judging without HTTP ...');
  const engine = await timeEngine(quick);
  console.log('start with the largest bundle ...');
  const start = await measureStart(quick ? 3 : 7);
  console.log('gateway, guarded and unguarded ...');
  const gateway = await measureGateway(quick ? 40 : 200);
  console.log('gateway beside a bare relay ...');
  const relay = await measureRelay(quick ? relayRounds.small : relayRounds.full, console.log);
  if (!quick) console.log('the runtime beside other frameworks ...');
  const frameworks = quick ? undefined : await timeFrameworks();
  return { checks, engine, start, gateway, relay, frameworks };
}

/** Cost as a multiple of the baseline; a higher value is always worse. */
export function ratiosOf({ checks, engine }: Measured): ReadonlyMap<string, number> {
  const overHttp = checks
    .filter(({ name }) => name !== 'echo' && name !== 'control')
    .map(({ name, ratio }) => [`HTTP, server CPU: ${name}`, ratio.cpu] as const);
  return new Map([...overHttp, ...engine.map(({ group, name, ratio }) => [`${group}: ${name}`, ratio] as const)]);
}
