import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** A control group whose processes together get a share of one core. */
export type CpuQuota = {
  /** What to put before a command so that it runs inside. */
  readonly launcher: readonly string[];
  /** Removes the group; its processes must have ended. */
  readonly remove: () => void;
};

const periodUs = 100_000;

/**
 * Makes a control group with a CPU quota, in cgroup v1 or v2, whichever has the cpu controller here.
 * @param cores such as 0.5. @returns why there is none, as a sentence, where this system or user may not make one.
 */
export function cpuQuota(cores: number): CpuQuota | string {
  const v1 = existsSync('/sys/fs/cgroup/cpu/cpu.cfs_quota_us');
  const parent = v1 ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup';
  const group = join(parent, `dormouse-test-${process.pid}`);
  const quota = String(Math.round(cores * periodUs));
  try {
    accessSync(parent, constants.W_OK);
    mkdirSync(group);
    if (v1) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(periodUs));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), quota);
    } else {
      writeFileSync(join(group, 'cpu.max'), `${quota} ${periodUs}`);
    }
  } catch (error) {
    if (existsSync(group)) rmdirSync(group);
    return `no control group with a CPU quota can be made here (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  }
  const enter = `echo $$ > '${join(group, 'cgroup.procs')}' && exec "$@"`;
  return { launcher: ['/bin/sh', '-c', enter, 'sh'], remove: () => rmdirSync(group) };
}
