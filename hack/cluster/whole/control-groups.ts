import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#kit/testing/until';

const mountPoint = '/sys/fs/cgroup';

/**
 * The folder of control groups: one tree in version 2; in version 1 one tree for each controller, some of which are
 * links.
 */
function hierarchies(): readonly string[] {
  if (existsSync(join(mountPoint, 'cgroup.controllers'))) return [mountPoint];
  return readdirSync(mountPoint, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(mountPoint, entry.name, 'cgroup.procs')))
    .map((entry) => join(mountPoint, entry.name));
}

/**
 * A new group of version 2 enables no controllers for its children; a new cpuset group of version 1 has no processors.
 */
function inherit(parent: string, group: string): void {
  const controllers = join(group, 'cgroup.controllers');
  if (existsSync(controllers)) {
    const names = readFileSync(controllers, 'utf8').trim().split(' ').filter(Boolean);
    for (const name of names) writeFileSync(join(group, 'cgroup.subtree_control'), `+${name}`);
  }
  for (const setting of ['cpuset.cpus', 'cpuset.mems']) {
    if (existsSync(join(group, 'cgroup.clone_children')) && existsSync(join(group, setting))) {
      writeFileSync(join(group, setting), readFileSync(join(parent, setting)));
    }
  }
}

/**
 * Processor time of a group relative to one process outside of it, by the setting of each version. With the default,
 * all pods of a cluster together get as much as one process, so that during a test run they would not start within the
 * time of their probes.
 */
const weights = { 'cpu.shares': '8192', 'cpu.weight': '800' };

function weigh(group: string): void {
  for (const [setting, value] of Object.entries(weights)) {
    if (existsSync(join(group, setting))) writeFileSync(join(group, setting), value);
  }
}

export function makeControlGroup(name: string): void {
  for (const parent of hierarchies()) {
    const group = join(parent, name);
    mkdirSync(group, { recursive: true });
    inherit(parent, group);
    weigh(group);
  }
}

function removeTree(group: string): void {
  if (!existsSync(group)) return;
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(group, entry.name));
  }
  rmdirSync(group);
}

/** Removes the control group and its children, once its last process has exited. */
export async function removeControlGroup(name: string): Promise<void> {
  for (const parent of hierarchies()) {
    await until(`the exit of the processes in control group ${name}`, () => {
      removeTree(join(parent, name));
      return true;
    });
  }
}
