import {
  AdminOnly,
  createHttpApp,
  CurrentUser,
  defineProblems,
  httpErrors,
  HttpModule,
  PageQuery,
  PathId,
  PathUuid,
  Problems,
  Public,
  ServiceOnly,
  timing,
  type HttpOptions,
  type ReadinessCheck,
  type User,
} from '@firstcome/http';
import { Body, Controller, Get, Global, HttpCode, Module, Post, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { SignJWT } from 'jose';

/** A small app over createHttpApp alone: what these specs say holds for every app built on it. */

export const auth = {
  secret: 'a secret of thirty-two characters',
  issuer: 'firstcome',
  audience: 'firstcome-api',
  serviceToken: 'service-token-of-the-specs',
};

export const sampleErrors = defineProblems({
  SAMPLE_REFUSED: { status: 409, title: 'The sample refuses', detail: 'Ask for something else.' },
  SAMPLE_BUSY: { status: 503, title: 'The sample is busy', detail: 'Repeat it.', retryable: true, retryAfterMs: 1500 },
});

class Item {
  @IsInt()
  @Min(1)
  optionId: number;

  @IsInt()
  @Min(1)
  @Max(1000)
  quantity: number;
}

class SampleBody {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @ValidateNested({ each: true })
  @Type(() => Item)
  items: Item[];

  @IsOptional()
  @IsString()
  note?: string;
}

/** What a spec holds back, so that nothing has to be timed. */
export class Gate {
  waiting = 0;
  private release: () => void;
  private readonly opened = new Promise<void>((resolve) => (this.release = resolve));

  async pass(): Promise<void> {
    this.waiting += 1;
    await this.opened;
  }

  open(): void {
    this.release();
  }
}

export class SamplePart implements ReadinessCheck {
  readonly name = 'sample';
  broken = false;

  async check(): Promise<void> {
    if (this.broken) throw new Error('postgres://somebody:secret@host is down');
  }
}

@Controller('v1')
class SampleController {
  constructor(private readonly gate: Gate) {}

  @Post('items')
  @HttpCode(201)
  @Problems(sampleErrors.SAMPLE_REFUSED)
  async create(@Body() body: SampleBody): Promise<unknown> {
    await timing.measure('db', async () => undefined);
    return body;
  }

  @Post('items/:id/issues')
  @HttpCode(201)
  issue(@PathId('id') id: number, @CurrentUser() user: User): unknown {
    return { id, user: user.id };
  }

  @Public()
  @Get('items/:id')
  find(@PathId('id') id: number): unknown {
    return { id };
  }

  @Get('orders/:id')
  order(@PathUuid('id') id: string): unknown {
    return { id };
  }

  @Get('items')
  list(@Query() query: PageQuery): unknown {
    return query;
  }

  @AdminOnly()
  @Post('admin/items')
  adminCreate(): unknown {
    return {};
  }

  @Post('fail/business')
  business(): never {
    throw sampleErrors.SAMPLE_REFUSED({ extra: { itemId: 7 } });
  }

  @Post('fail/busy')
  busy(): never {
    throw sampleErrors.SAMPLE_BUSY();
  }

  @Post('fail/crash')
  crash(): never {
    throw new TypeError('a secret of the server');
  }

  @Post('fail/translated')
  translated(): never {
    throw new SyntaxError('translated');
  }

  @Post('fail/undefined')
  undefinedThrown(): never {
    // oxlint-disable-next-line no-throw-literal -- exactly this is under test
    throw undefined;
  }

  @Post('gate')
  @HttpCode(200)
  async wait(): Promise<unknown> {
    await this.gate.pass();
    return { passed: true };
  }
}

@ServiceOnly()
@Controller('internal/v1')
class InternalController {
  @Post('things')
  @HttpCode(200)
  things(): unknown {
    return {};
  }
}

@Global()
@Module({
  controllers: [SampleController, InternalController],
  providers: [Gate, SamplePart],
  exports: [SamplePart],
})
class SampleModule {}

export async function startSample(overrides: Partial<HttpOptions> = {}): Promise<NestFastifyApplication> {
  const module = {
    module: class SampleAppModule {},
    imports: [SampleModule, HttpModule.forRoot({ auth, readiness: [SamplePart] })],
  };
  const app = await createHttpApp(module, {
    name: 'coupon',
    version: '1.2.3',
    translators: [(error) => (error instanceof SyntaxError ? httpErrors.RATE_LIMITED().problem : undefined)],
    problems: Object.values(sampleErrors),
    trustProxy: false,
    corsOrigins: ['https://shop.example'],
    logLevel: 'silent',
    docs: true,
    ...overrides,
  });
  await app.listen(0, '127.0.0.1');
  return app;
}

export function portOf(app: NestFastifyApplication): number {
  return (app.getHttpServer().address() as { port: number }).port;
}

export function token(claims: Record<string, unknown> = {}, secret = auth.secret): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ sub: 'alice', iss: auth.issuer, aud: auth.audience, iat: now, exp: now + 60, ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret));
}
