import { describe, expect, it } from 'vitest';
import { defineProblems, ProblemError } from './problem.js';
import { problemBody, problemHeaders } from './problem-document.js';

const errors = defineProblems({
  NO: { status: 409, title: 'No', detail: 'It is final.' },
  LATER: {
    status: 503,
    title: 'Later',
    detail: 'Repeat it.',
    retryable: true,
    retryAfterMs: 1001,
    headers: { a: '1' },
  },
});

describe('a problem', () => {
  it('has its code from its key, and can be read without being thrown', () => {
    expect([errors.NO.code, errors.NO.status, errors.NO.retryable]).toEqual(['NO', 409, false]);
  });

  it('is thrown with what differs this time', () => {
    const error = errors.NO({ detail: 'Because.', extra: { id: 7 }, errors: [] });
    expect(error).toBeInstanceOf(ProblemError);
    expect(error.problem).toMatchObject({ code: 'NO', title: 'No', detail: 'Because.', extra: { id: 7 } });
  });

  it('keeps its own members, whatever the extra ones are called', () => {
    const { problem } = errors.NO({ extra: { status: 200, code: 'YES', more: 1 } });
    expect(JSON.parse(problemBody(problem, 't'))).toEqual({
      type: 'urn:firstcome:problem:NO',
      title: 'No',
      status: 409,
      detail: 'It is final.',
      code: 'NO',
      retryable: false,
      traceId: 't',
      more: 1,
    });
  });

  it('says Retry-After in whole seconds, rounded up, beside its own headers', () => {
    expect(problemHeaders(errors.LATER().problem)).toEqual({ a: '1', 'retry-after': '2' });
    expect(problemHeaders(errors.LATER({ retryAfterMs: 10, headers: { b: '2' } }).problem)).toEqual({
      a: '1',
      b: '2',
      'retry-after': '1',
    });
  });
});
