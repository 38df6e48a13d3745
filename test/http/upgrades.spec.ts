import { connect } from 'node:net';
import { once } from 'node:events';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Upgrades } from '@firstcome/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendRaw } from './raw-socket.js';
import { Gate, portOf, startSample, token } from './sample-app.js';

let app: NestFastifyApplication;
let port: number;
const taken: (string | undefined)[] = [];

beforeAll(async () => {
  app = await startSample();
  port = portOf(app);
  app.get(Upgrades).take('/v1/socket', (request, socket) => {
    taken.push(request.url);
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n{}');
  });
});
afterAll(() => app.close());

const offer = (line: string, protocol: string, rest = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: ${protocol}\r\n${rest}\r\n`;

describe('an offer to change the protocol', () => {
  it('is taken where the path speaks WebSocket, query and all', async () => {
    const answer = await sendRaw(port, [offer('GET /v1/socket?a=1', 'WebSocket')]);
    expect([answer.status, taken]).toEqual([101, ['/v1/socket?a=1']]);
  });

  it('elsewhere is not taken: the router answers, in its own shape, and closes where a WebSocket was all that was wanted', async () => {
    const absent = await sendRaw(port, [offer('GET /v1/nowhere', 'websocket')]);
    expect([absent.status, JSON.parse(absent.text).code, absent.closed]).toEqual([404, 'ROUTE_NOT_FOUND', true]);
    expect(absent.head).toMatch(/^content-type: application\/problem\+json/im);
    const ordinary = await sendRaw(port, [offer('GET /v1/items/7', 'websocket')]);
    expect([ordinary.status, ordinary.text]).toEqual([200, '{"id":7}']);
  });

  it('of something else is not taken behind other requests either: each gets its answer, in order, on one connection', async () => {
    const all = [1, 2, 3].map((id) => offer(`GET /v1/items/${id}`, 'h2c'));
    const answer = await sendRaw(port, [all.join('')], 3);
    expect([answer.status, answer.text, answer.closed]).toEqual([200, '{"id":3}', false]);
  });

  it('of h2c is not taken, and costs a request nothing, not even its body', async () => {
    const body = JSON.stringify({ items: [{ optionId: 1, quantity: 2 }], note: 'ä' });
    const head = [
      `Authorization: Bearer ${await token()}`,
      'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
    ].join('\r\n');
    const whole = await sendRaw(port, [offer('POST /v1/items', 'h2c', head) + body]);
    expect([whole.status, whole.text]).toEqual([201, body]);
    const late = await sendRaw(port, [offer('POST /v1/items', 'h2c', head) + body.slice(0, 9), body.slice(9)]);
    expect([late.status, late.text]).toEqual([201, body]);
  });

  it('by another method than GET is not taken, and reaches no socket', async () => {
    const before = taken.length;
    const answer = await sendRaw(port, [offer('POST /v1/socket', 'websocket', 'Content-Length: 0\r\n')]);
    expect([answer.status, taken.length]).toEqual([404, before]);
    const other = await sendRaw(port, [offer('GET /v1/socket', 'h2c')]);
    expect([other.status, taken.length]).toEqual([404, before]);
  });

  it('is not taken by an instance that stops: it is told to go elsewhere', async () => {
    const stopping = await startSample();
    stopping.get(Upgrades).take('/v1/items/7', () => expect.unreachable());
    const gate = stopping.get(Gate);
    const [holding, late] = [0, 1].map(() => connect(portOf(stopping), '127.0.0.1').setEncoding('utf8'));
    const whole = offer('GET /v1/items/7', 'websocket');
    // One request keeps the stop from its end; the other is only half sent, and so not closed as idle.
    late!.write(whole.slice(0, 40));
    const authorization = `Authorization: Bearer ${await token()}`;
    holding!.write(`POST /v1/gate HTTP/1.1\r\nHost: x\r\n${authorization}\r\nContent-Length: 0\r\n\r\n`);
    await expect.poll(() => gate.waiting).toBe(1);
    const closed = stopping.close();
    let text = '';
    late!.on('data', (chunk: string) => (text += chunk));
    const ended = once(late!, 'close');
    late!.write(whole.slice(40));
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 503 [^]*"code":"SHUTTING_DOWN"/);
    gate.open();
    await closed;
  });
});
