import { createRedis } from '@firstcome/redis';
import { Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';

/** One client for each of the independent servers of REDLOCK_URLS. */
export class RedlockServers implements OnApplicationShutdown {
  readonly clients: Redis[];

  constructor(urls: string[]) {
    this.clients = urls.map((url) => createRedis({ url }) as Redis);
  }

  onApplicationShutdown(): void {
    for (const client of this.clients) client.disconnect();
  }
}

@Module({})
export class RedlockServersModule {
  static forRoot(urls: string[]): DynamicModule {
    const servers = { provide: RedlockServers, useFactory: () => new RedlockServers(urls) };
    return { module: RedlockServersModule, providers: [servers], exports: [RedlockServers] };
  }
}
