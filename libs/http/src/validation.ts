import { ValidationPipe, type ArgumentMetadata, type ValidationError } from '@nestjs/common';
import { httpErrors } from './http.errors.js';
import type { ProblemDetail } from './problem.js';

/** The stock pipe at its strictest; its errors become JSON pointers. */
export class StrictValidationPipe extends ValidationPipe {
  constructor() {
    super({
      transform: true,
      transformOptions: { enableImplicitConversion: false },
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: true,
      validationError: { target: false, value: false },
    });
  }

  /** What our own decorators made was checked by them; a grab has five of them, and each promise is a turn of the loop. */
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    return metadata.type === 'custom' ? (value as Promise<unknown>) : this.validated(value, metadata);
  }

  private async validated(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    try {
      return await super.transform(value, metadata);
    } catch (error) {
      if (!(error instanceof RejectedInput)) throw error;
      const root = metadata.type === 'body' ? '' : `/${metadata.type}`;
      throw httpErrors.VALIDATION_FAILED({ errors: pointers(error.errors, root) });
    }
  }

  override createExceptionFactory() {
    return (errors: ValidationError[] = []): unknown => new RejectedInput(errors);
  }
}

class RejectedInput extends Error {
  constructor(readonly errors: ValidationError[]) {
    super('rejected input');
  }
}

const MAX_ERRORS = 20;
const MAX_NAME = 64;

function pointers(errors: ValidationError[], path: string): ProblemDetail[] {
  return errors.flatMap((error) => pointersOf(error, path)).slice(0, MAX_ERRORS);
}

function pointersOf(error: ValidationError, path: string): ProblemDetail[] {
  const pointer = `${path}/${escapePointer(error.property)}`;
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) =>
    rule === 'whitelistValidation'
      ? { pointer, code: 'UNKNOWN_FIELD', message: 'is not a field of this request' }
      : { pointer, code: constantCase(rule), message },
  );
  return [...own, ...pointers(error.children ?? [], pointer)];
}

/** Names of unknown fields come from the client: cut to a bounded length and kept to one line. */
function escapePointer(name: string): string {
  const visible = name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name;
  return visible.replaceAll('~', '~0').replaceAll('/', '~1');
}

function constantCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
