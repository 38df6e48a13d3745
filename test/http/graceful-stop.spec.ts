import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { expect, it } from 'vitest';
import { Lifecycle } from '../../libs/http/src/lifecycle.js';
import { Gate, portOf, startSample, token } from './sample-app.js';

/** A request that is inside its handler when this returns. */
async function begun(app: NestFastifyApplication) {
  const gate = app.get(Gate);
  const authorization = `Bearer ${await token()}`;
  const agent = new Agent({ keepAlive: true });
  const sent = request({ port: portOf(app), method: 'POST', path: '/v1/gate', headers: { authorization }, agent });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end();
  await expect.poll(() => gate.waiting).toBe(1);
  return { gate, answered: answered.then(([response]) => response), agent };
}

it('finishes what it accepted, takes nothing new, and closes', async () => {
  const app = await startSample();
  const port = portOf(app);
  const { gate, answered } = await begun(app);
  const closed = app.close();
  const refused = connect(port, '127.0.0.1');
  const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
  gate.open();
  const response = await answered;
  expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
  await closed;
});

it('refuses a request on an open connection, and says that it is not ready', async () => {
  const app = await startSample();
  const port = portOf(app);
  const bearer = await token();
  // Two connections that are in the middle of a request when the stop begins, and so are not closed as idle.
  const sockets = ['GET /readyz', 'POST /v1/items/7/issues'].map((line) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(`${line} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${bearer}\r\n`);
    return socket;
  });
  const { gate, answered } = await begun(app);
  const closed = app.close();
  const answers = sockets.map(async (socket) => {
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    await once(socket, 'end');
    return text;
  });
  for (const socket of sockets) socket.write('content-length: 0\r\n\r\n');
  const [ready, issue] = await Promise.all(answers);
  expect(ready).toMatch(/^HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*"pointer":"\/lifecycle"/i);
  expect(issue).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1[\s\S]*"code":"SHUTTING_DOWN"/i);
  gate.open();
  expect((await answered).statusCode).toBe(200);
  await closed;
});

it('does not wait for connections that ask for nothing', async () => {
  const app = await startSample();
  const idle = connect(portOf(app), '127.0.0.1');
  const half = connect(portOf(app), '127.0.0.1');
  // Reset or ended: both are an end.
  for (const socket of [idle, half]) socket.on('error', () => undefined);
  await Promise.all([once(idle, 'connect'), once(half, 'connect')]);
  half.write('POST /v1/items HTTP/1.1\r\nhost: a\r\ncontent-');
  const ended = Promise.all([idle, half].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  await app.close();
  expect(await ended).toHaveLength(2);
});

it('may be asked to close twice', async () => {
  const app = await startSample();
  expect(await Promise.all([app.close(), app.close()])).toHaveLength(2);
});

it('finishes what it accepted from a client that went away meanwhile', async () => {
  const app = await startSample();
  const { answered, gate } = await begun(app);
  answered.catch(() => undefined);
  app.getHttpServer().closeAllConnections();
  const order: string[] = [];
  const closed = app.close().then(() => order.push('closed'));
  // The handler goes on in a later turn than whatever closing would do by itself.
  setTimeout(() => {
    order.push('opened');
    gate.open();
  }, 300);
  await closed;
  expect(order).toEqual(['opened', 'closed']);
});

it('counts nobody who left in the middle of sending a request', async () => {
  const app = await startSample();
  const { gate, answered } = await begun(app);
  const authorization = `authorization: Bearer ${await token()}`;
  const half = connect(portOf(app), '127.0.0.1');
  half.write(`POST /v1/items HTTP/1.1\r\nhost: a\r\n${authorization}\r\ncontent-type: application/json\r\n`);
  half.write('content-length: 100\r\n\r\n{"items"');
  const lifecycle = app.get(Lifecycle);
  await expect.poll(() => lifecycle.inFlight).toBe(2);
  half.resetAndDestroy();
  await expect.poll(() => lifecycle.inFlight).toBe(1);
  gate.open();
  await answered;
  await expect.poll(() => lifecycle.inFlight).toBe(0);
  await app.close();
});
