import { defineProblems } from './problem.js';

/** Every problem this library answers by itself. docs/errors.md has a row for each (a test compares). */
export const httpErrors = defineProblems({
  BAD_REQUEST: {
    status: 400,
    title: 'The request is not HTTP that this server accepts',
    detail: 'The request line, a header or the framing of the body is malformed. Send a valid HTTP/1.1 request.',
  },
  MALFORMED_URL: {
    status: 400,
    title: 'The URL is malformed',
    detail: 'The path or the query holds a bad percent-escape or bytes that are not UTF-8. Encode it again.',
  },
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not one JSON object',
    detail: 'Send one JSON object, encoded in UTF-8.',
  },
  VALIDATION_FAILED: {
    status: 400,
    title: 'The request does not fit its schema',
    detail: 'See errors: each entry points at one wrong part. Correct them and send the request again.',
  },
  IDEMPOTENCY_KEY_REQUIRED: {
    status: 400,
    title: 'An Idempotency-Key header is required',
    detail: 'Send an Idempotency-Key of your own making, such as a UUID, and the same one when you repeat the request.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    title: 'The Idempotency-Key header is not valid',
    detail: 'Send exactly one Idempotency-Key of 1 to 255 visible ASCII characters.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'A valid bearer token is required',
    detail: 'Send a valid, unexpired token in the header Authorization: Bearer <token>.',
    headers: { 'www-authenticate': 'Bearer realm="firstcome"' },
  },
  FORBIDDEN: {
    status: 403,
    title: 'This token does not permit the request',
    detail: 'The token is valid, but its role does not reach this route. Use a token that does.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    title: 'There is no such route',
    detail: 'No route has this path. GET /openapi.json lists them all.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'This path does not take the method',
    detail: 'Use one of the methods in the Allow header.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: 'The answer would be JSON, which Accept rules out',
    detail: 'Send Accept: application/json, or leave the header out.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request took too long to arrive',
    detail: 'A request must be sent within 10 seconds. Nothing was done; send it again on a new connection.',
    retryable: true,
    retryAfterMs: 1000,
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    detail: 'Repeat the request with the same key: it is answered as soon as the first one is decided.',
    retryable: true,
    retryAfterMs: 1000,
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    detail: 'A body may hold up to 32 kB. Send a smaller one.',
  },
  URI_TOO_LONG: {
    status: 414,
    title: 'The URL is too long',
    detail: 'A URL may hold up to 4096 characters. Send a shorter one.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The body is not plain JSON in UTF-8',
    detail: 'Send Content-Type: application/json, charset utf-8 or none, without a Content-Encoding.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'This Idempotency-Key was used for another request',
    detail: 'The body or the query differs from the first use of this key. Use a new key for a new request.',
  },
  UPGRADE_REQUIRED: {
    status: 426,
    title: 'This path speaks WebSocket',
    detail:
      'Connect with a WebSocket client (RFC 6455, version 13); /docs says what this path takes and how it closes.',
    headers: { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' },
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    detail: 'The limit for this minute is reached. Wait for the time in Retry-After.',
    retryable: true,
    retryAfterMs: 1000,
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    detail: 'All headers together may hold up to 16 kB. Send fewer or shorter ones.',
  },
  INTERNAL_ERROR: {
    status: 500,
    title: 'The server failed',
    detail: 'This is a mistake of ours and it was logged. Report it with the traceId.',
  },
  NOT_READY: {
    status: 503,
    title: 'This instance is not ready',
    detail: 'See errors: each entry names a part that does not answer.',
    retryable: true,
    retryAfterMs: 1000,
  },
  UPSTREAM_UNAVAILABLE: {
    status: 503,
    title: 'The key server cannot be asked right now',
    detail:
      'Nobody can tell whether the token is good: its key is not known here yet. Nothing was done. Repeat the request.',
    retryable: true,
    retryAfterMs: 1000,
  },
  SHUTTING_DOWN: {
    status: 503,
    title: 'This instance is stopping',
    detail: 'Nothing was done. Repeat the request: another instance takes it.',
    retryable: true,
    retryAfterMs: 1000,
  },
});
