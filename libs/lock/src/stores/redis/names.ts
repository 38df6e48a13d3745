/** The names of CONTRACT: plain on one node, the key in braces on a Cluster, so that a lock and its belongings share a slot. */
export interface Names {
  lock: (key: string) => string;
  line: (key: string) => string;
  fence: (key: string) => string;
  channel: (key: string) => string;
  /** The inverse of `channel`. */
  keyOf: (channel: string) => string;
  readonly allChannels: string;
}

export function namesOf(cluster: boolean, prefix: string): Names {
  const tag = cluster ? (key: string) => `{${key}}` : (key: string) => key;
  const channels = `${prefix}lock:release:`;
  return {
    lock: (key) => `lock:${tag(key)}`,
    line: (key) => `lock:queue:${tag(key)}`,
    fence: (key) => `lock:fence:${tag(key)}`,
    channel: (key) => channels + tag(key),
    keyOf: (channel) => (cluster ? channel.slice(channels.length + 1, -1) : channel.slice(channels.length)),
    allChannels: `${escapeGlob(channels)}*`,
  };
}

/** For operators who scan Redis: the key that is locked under this name, undefined where it is no lock. */
export function keyOfLockName(name: string): string | undefined {
  if (!name.startsWith('lock:') || /^lock:(fence|queue|release):/.test(name)) return undefined;
  return name.slice('lock:'.length).replace(/^\{(.*)\}$/, '$1');
}

function escapeGlob(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}
