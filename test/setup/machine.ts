import { execFile, execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** Returns why no machine can be created here, or undefined if one can. */
export function machineTrouble(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = ['debootstrap', 'systemd-nspawn', 'nsenter'].filter((program) => {
    try {
      execFileSync('which', [program], { stdio: 'ignore' });
      return false;
    } catch {
      return true;
    }
  });
  return missing.length === 0
    ? undefined
    : `${missing.join(' and ')} is not installed (Debian: debootstrap, systemd-container)`;
}

/** A new Debian machine in a container, with systemd, on this machine's network. */
export type Machine = Awaited<ReturnType<typeof startMachine>>;

/**
 * The certificates that this machine trusts: the new machine gets them, since a network can have its own certificate
 * authority.
 */
const trusted = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Creates a machine with this Debian release, and boots it. The script finds the last commit of this repository at
 * `$REPOSITORY`.
 */
export async function startMachine(release: string) {
  const folder = await mkdtemp('/var/tmp/machine-');
  // The folder becomes the root directory of the machine, which all its users must be able to enter.
  await chmod(folder, 0o755);
  const remove = () => rm(folder, { recursive: true, force: true });
  await run(
    'debootstrap',
    ['--variant=minbase', '--include=systemd,systemd-sysv,dbus,procps,ca-certificates', release, folder],
    {
      maxBuffer: 64 * 1024 ** 2,
    },
  );
  await mkdir(path.join(folder, 'srv'), { recursive: true });
  await run('git', ['clone', '-q', '--bare', root, path.join(folder, 'srv/repository.git')]);
  if (existsSync(trusted)) copyFileSync(trusted, path.join(folder, trusted));
  const container = spawn(
    'systemd-nspawn',
    ['--quiet', '--register=no', '--keep-unit', '--console=pipe', '--resolv-conf=copy-host', '-D', folder, '--boot'],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => container.once('exit', () => resolve()));
  const leader = () =>
    readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').trim().split(' ')[0];
  const machine = {
    /** Runs a script as root, and returns its output. @throws with the output, if it fails */
    async run(script: string) {
      const environment = {
        HOME: '/root',
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        REPOSITORY: '/srv/repository.git',
        NODE_EXTRA_CA_CERTS: trusted,
        ...(process.env.npm_config_registry && { npm_config_registry: process.env.npm_config_registry }),
      };
      const first = leader();
      if (!first) throw new Error('the machine has not begun to boot');
      const inside = ['-t', first, '-m', '-u', '-i', '-p', '-C', '--', 'sh', '-eu'];
      const running = run('nsenter', inside, { env: environment, maxBuffer: 64 * 1024 ** 2 });
      // A process that exits before it has read its script is reported by its exit code.
      running.child.stdin?.on('error', () => undefined);
      running.child.stdin?.end(script);
      const { stdout } = await running.catch((error: Error & { stdout?: string; stderr?: string }) => {
        throw new Error(
          `${script}\nfailed:\n${(error.stdout ?? '').slice(-2_000)}\n${(error.stderr ?? '').slice(-2_000)}`,
        );
      });
      return stdout;
    },
    async stop() {
      await machine.run('systemctl poweroff --force').catch(() => undefined);
      const first = leader();
      const timer = setTimeout(() => {
        // Ends everything that runs in the machine.
        if (first) process.kill(Number(first), 'SIGKILL');
        container.kill('SIGKILL');
      }, 20_000);
      await ended;
      clearTimeout(timer);
      await remove();
    },
  };
  try {
    await vi.waitFor(() => machine.run(isUp), { timeout: 60_000, interval: 500 });
  } catch (error) {
    await machine.stop();
    throw error;
  }
  return machine;
}

/** Succeeds when all units have started, whether or not one has failed. */
const isUp = 'case "$(systemctl is-system-running)" in running | degraded) ;; *) exit 1 ;; esac';
