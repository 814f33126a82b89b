import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';

/** Whether the current user may use control groups (version 1) to limit processes' memory and disk access. */
export const hasControlGroups = () =>
  process.getuid?.() === 0 && ['memory', 'blkio'].every((part) => existsSync(join(root, part, 'cgroup.procs')));

let made = 0;
function makeGroup(part: 'memory' | 'blkio'): string {
  made += 1;
  const group = join(root, part, `payments-faults-${process.pid}-${made}`);
  mkdirSync(group);
  return group;
}

const enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A group whose processes share the given amount of memory. If they need more, the kernel kills one of them. */
export function memoryGroup(mebibytes: number) {
  const group = makeGroup('memory');
  writeFileSync(join(group, 'memory.limit_in_bytes'), String(mebibytes * 1024 ** 2));
  const read = (name: string) => readFileSync(join(group, name), 'utf8');
  return {
    wrapper: ['sh', '-c', enter, group],
    kills: () => Number(/oom_kill (\d+)/.exec(read('memory.oom_control'))?.[1]),
    /** The peak memory use, including files that the kernel caches for the group. */
    mostMebibytes: () => Math.round(Number(read('memory.max_usage_in_bytes')) / 1024 ** 2),
    remove: () => rmdirSync(group),
  };
}

/** A group that can limit its processes' writes to the disk that contains `folder`. */
export function diskGroup(folder: string) {
  const group = makeGroup('blkio');
  const { dev } = statSync(folder);
  return {
    wrapper: ['sh', '-c', enter, group],
    /** Limits the number of writes per second, or removes the limit if `writes` is undefined. */
    limit: (writes: number | undefined) =>
      writeFileSync(join(group, 'blkio.throttle.write_iops_device'), `${dev >> 8}:${dev & 255} ${writes ?? 0}`),
    remove: () => rmdirSync(group),
  };
}
