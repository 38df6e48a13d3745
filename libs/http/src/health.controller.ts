import { Controller, Get, Header, Inject } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from './auth.js';
import { httpErrors } from './http.errors.js';
import { Lifecycle } from './lifecycle.js';
import { metricsRegistry } from './metrics.js';
import type { ProblemDetail } from './problem.js';
import { Problems } from './problems.decorator.js';

export interface ReadinessCheck {
  /** Named in the answer when the check fails. */
  readonly name: string;
  /** Throws when the part cannot be used. */
  check(): Promise<void>;
}

export const READINESS_CHECKS = Symbol('readiness checks');
const CHECK_DEADLINE_MS = 1000;

@ApiTags('operation')
@Public()
@Controller()
export class HealthController {
  constructor(
    private readonly lifecycle: Lifecycle,
    @Inject(READINESS_CHECKS) private readonly checks: ReadinessCheck[],
  ) {}

  @Get('livez')
  @ApiOperation({ summary: 'Is the process alive? Says nothing of what it depends on.' })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({ summary: 'Can this instance serve? 503 names the part that cannot.' })
  @Problems(httpErrors.NOT_READY)
  async ready(): Promise<{ status: 'ok' }> {
    const failures = await Promise.all(this.checks.map(failureOf));
    const errors = failures.filter((failure) => failure !== undefined);
    if (this.lifecycle.stopping) {
      errors.unshift({ pointer: '/lifecycle', code: 'STOPPING', message: 'The process was asked to stop.' });
    }
    if (errors.length > 0) throw httpErrors.NOT_READY({ errors });
    return { status: 'ok' };
  }

  @Get('metrics')
  @Header('content-type', metricsRegistry.contentType)
  @ApiOperation({ summary: 'Metrics in the Prometheus text format' })
  metrics(): Promise<string> {
    return metricsRegistry.metrics();
  }
}

async function failureOf(part: ReadinessCheck): Promise<ProblemDetail | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, CHECK_DEADLINE_MS, new Error(`no answer within ${CHECK_DEADLINE_MS} ms`));
  });
  try {
    await Promise.race([part.check(), deadline]);
    return undefined;
  } catch {
    // Never the driver's message: it may name hosts and users.
    return { pointer: `/${part.name}`, code: 'DOWN', message: `The ${part.name} does not answer.` };
  } finally {
    clearTimeout(timer);
  }
}
