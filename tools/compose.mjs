// PostgreSQL and Redis out of docker-compose.yml, where a Docker daemon answers.
import { spawnSync } from 'node:child_process';
import { anyFreePort } from './ports.mjs';
import { root } from './paths.mjs';

const docker = (args, options = {}) =>
  spawnSync('docker', args, { cwd: root, encoding: 'utf8', timeout: 5000, ...options });

/** Why Docker Compose cannot be used, or undefined. */
export function composeMissing() {
  const daemon = docker(['version', '--format', '{{.Server.Version}}']);
  if (daemon.error?.code === 'ENOENT') return 'Docker is not installed';
  if (daemon.status !== 0) return 'no Docker daemon answers';
  if (docker(['compose', 'version']).status !== 0) return 'Docker has no Compose plugin';
  return undefined;
}

/** Starts one service of docker-compose.yml on a free loopback port. */
export async function composeUp({ run, project, service, durable }) {
  const port = await anyFreePort();
  run.addCompose(project, !durable);
  // The volume keeps the password of the first start in it: a test's volume is thrown away, a user's password is kept in .data/secrets.
  const env = { ...process.env, [`${service.toUpperCase()}_PORT`]: String(port) };
  const up = docker(['compose', '-p', project, 'up', '-d', '--wait', service], { env, timeout: 300_000 });
  if (up.status !== 0)
    throw new Error(`docker compose up ${service}: ${up.stderr?.trim().split('\n').at(-1) ?? up.error?.message}`);
  return port;
}
