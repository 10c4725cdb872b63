import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../e2e/support/until.ts';

const mountPoint = '/sys/fs/cgroup';

/** One tree in version 2; one for each controller in version 1, where some systems mount links as well. */
function hierarchies(): readonly string[] {
  if (existsSync(join(mountPoint, 'cgroup.controllers'))) return [mountPoint];
  return readdirSync(mountPoint, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(mountPoint, entry.name, 'cgroup.procs')))
    .map((entry) => join(mountPoint, entry.name));
}

/** A new group of version 2 gives its children no controller, and one of cpuset in version 1 has no processors. */
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

export function makeControlGroup(name: string): void {
  for (const parent of hierarchies()) {
    const group = join(parent, name);
    mkdirSync(group, { recursive: true });
    inherit(parent, group);
  }
}

function removeTree(group: string): void {
  if (!existsSync(group)) return;
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(group, entry.name));
  }
  rmdirSync(group);
}

/** Removes the group and all below it, once its last process has left. */
export async function removeControlGroup(name: string): Promise<void> {
  for (const parent of hierarchies()) {
    await until(`the end of control group ${name}`, () => {
      removeTree(join(parent, name));
      return true;
    });
  }
}
