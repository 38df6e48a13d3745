// PostgreSQL and Redis out of docker-compose.yml, where a Docker daemon answers.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { anyFreePort } from './ports.mjs';
import { inData, root } from './paths.mjs';

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

// Says that data of npm start is in the volumes of this project.
const projectNote = () => inData('servers', 'compose');

/** Starts one service of docker-compose.yml on a free loopback port. */
export async function composeUp({ run, project, service, durable }) {
  const port = await anyFreePort();
  run.addCompose(project, !durable);
  if (durable) {
    mkdirSync(inData('servers'), { recursive: true });
    writeFileSync(projectNote(), project);
  }
  // The volume keeps the password of the first start in it: a test's volume is thrown away, a user's password is kept in .data/secrets.
  const env = { ...process.env, [`${service.toUpperCase()}_PORT`]: String(port) };
  const up = docker(['compose', '-p', project, 'up', '-d', '--wait', service], { env, timeout: 300_000 });
  if (up.status !== 0)
    throw new Error(`docker compose up ${service}: ${up.stderr?.trim().split('\n').at(-1) ?? up.error?.message}`);
  return port;
}

/** Removes the volumes of a project that npm start used. */
export function removeVolumes(project) {
  const down = docker(['compose', '-p', project, 'down', '-v'], { timeout: 60_000 });
  if (down.status !== 0)
    throw new Error(`docker compose -p ${project} down -v: ${down.stderr?.trim() || down.error?.message}`);
}
