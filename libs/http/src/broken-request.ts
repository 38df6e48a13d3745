import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { httpErrors } from './http.errors.js';
import type { DefinedProblem } from './problem.js';
import { PROBLEM_TYPE, problemBody, problemHeaders } from './problem-document.js';

const parserProblems: Record<string, DefinedProblem> = {
  ERR_HTTP_REQUEST_TIMEOUT: httpErrors.REQUEST_TIMEOUT,
  HPE_HEADER_OVERFLOW: httpErrors.HEADERS_TOO_LARGE,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: httpErrors.PAYLOAD_TOO_LARGE,
};

interface ParserError extends Error {
  code: string;
  rawPacket?: Buffer;
}

/** Answers what never became a request: the parser refused it, or it did not arrive in time. Then the connection ends. */
export function answerBrokenRequest(error: ParserError, socket: Socket): void {
  const response = (socket as { _httpMessage?: ServerResponse })._httpMessage;
  // Nobody is there to read it, or bytes of another answer are already out.
  if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  const { problem } = problemFor(error)();
  const traceId = randomUUID();
  const body = problemBody(problem, traceId);
  const headers = {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    'x-request-id': traceId,
    ...problemHeaders(problem),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroySoon(),
  );
}

function problemFor(error: ParserError): DefinedProblem {
  if (error.code === 'HPE_HEADER_OVERFLOW' && isLongRequestLine(error.rawPacket)) return httpErrors.URI_TOO_LONG;
  return parserProblems[error.code] ?? httpErrors.BAD_REQUEST;
}

/** The parser counts the URL as a header. A first packet whose request line alone is too long was a URL too long. */
function isLongRequestLine(packet: Buffer | undefined): boolean {
  if (!packet || !/^[A-Z]{3,10} [/h*]/.test(packet.toString('latin1', 0, 16))) return false;
  const end = packet.indexOf('\r\n');
  return end === -1 || end > 4096;
}
