import 'reflect-metadata';
import { ConfigError } from '@firstcome/environment';
import { runHttpApp } from '@firstcome/http';
import { createCouponApp } from './app.module.js';
import { loadConfig } from './config.js';

try {
  const config = loadConfig();
  await runHttpApp(await createCouponApp(config), config);
} catch (error) {
  // A mistake of whoever starts it reads as advice; anything else keeps its stack.
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}
