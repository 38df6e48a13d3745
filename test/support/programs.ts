import { existsSync } from 'node:fs';

/** Where a k6 may be found that is here already: a test does not build one. */
export const k6Environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  K6_BIN: process.env['K6_BIN'],
  HOME: '/nowhere',
  GOFLAGS: '-mod=mod',
  GOPROXY: 'off',
});

/** A browser of this machine, or undefined. */
export function chromiumProgram(): string | undefined {
  const { CHROMIUM_BIN } = process.env;
  const places = [CHROMIUM_BIN, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return places.find((place) => place && existsSync(place));
}
