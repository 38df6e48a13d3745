import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body parsed, whatever its shape: a spec says what it expects. */
  // eslint-disable-next-line typescript/no-explicit-any
  json: any;
}

export interface Call {
  token?: string;
  key?: string;
  headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, with the media type of `headers` or JSON. */
  raw?: string | Buffer;
}

// One connection serves many requests, as browsers and gateways do; a test of 20 000 requests opens a few dozen.
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

/** One request to a real server. Never throws for a status: the spec judges it. */
export function call(base: string, method: string, path: string, options: Call = {}): Promise<Reply> {
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const headers: OutgoingHttpHeaders = {
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...options.headers,
  };
  for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    // The path goes out as written: a URL object would repair what a bad-input test sends.
    const sent = request({ hostname, port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
