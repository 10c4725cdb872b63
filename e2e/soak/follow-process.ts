import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { until } from '#kit/testing/until';
import type { ProcessSample } from './judge-slopes.ts';
import type { SaidLevel } from './say-level.ts';

/**
 * A monitored process. The process logs its own level; a process without a log that accepts no environment variables,
 * such as a runtime, is measured from outside, so that uncollected garbage counts, too (e2e/isolation collects it).
 */
export type MonitoredProcess = { readonly name: string; readonly pid: number; readonly log: string | undefined };

const said = /^collected (.*)$/gm;

/**
 * Triggers garbage collections of a process and reads its level. Calls in flight have separate timers and sockets: the
 * minimum of three readings excludes most of them.
 */
export async function lookAt({ name, pid, log }: MonitoredProcess, at: number): Promise<ProcessSample> {
  if (log === undefined) {
    const held = { live: 0, timers: 0, listeners: 0 };
    return { at, ...held, resident: residentOf(pid), descriptors: linksOf(pid).length, sockets: socketsOf(pid) };
  }
  const first = await levelOf(name, pid, log);
  const readings = [first, await levelOf(name, pid, log), await levelOf(name, pid, log)];
  const least = (measure: 'timers' | 'sockets') => Math.min(...readings.map((level) => level[measure]));
  return { at, ...first, timers: least('timers'), sockets: least('sockets'), descriptors: linksOf(pid).length };
}

async function levelOf(name: string, pid: number, log: string): Promise<SaidLevel> {
  const levels = () => [...readFileSync(log, 'utf8').matchAll(said)];
  const before = levels().length;
  process.kill(pid, 'SIGUSR2');
  return until(`${name} reports its level`, () => {
    const all = levels();
    return all.length > before ? (JSON.parse(all.at(-1)?.[1] ?? '') as SaidLevel) : undefined;
  });
}

function residentOf(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1_024;
}

function socketsOf(pid: number): number {
  return linksOf(pid).filter((link) => link.startsWith('socket:')).length;
}

/** Targets of the open descriptors of a process: files, pipes and sockets. */
function linksOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      // The descriptor was closed meanwhile.
      return [];
    }
  });
}
