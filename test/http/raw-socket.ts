import { connect } from 'node:net';

export interface RawAnswer {
  status: number;
  head: string;
  text: string;
  /** Whether the server ended the connection within the wait. */
  closed: boolean;
}

const STATUS_LINE = /HTTP\/1\.1 \d{3} /g;

/** Sends bytes as they are, and reads until the server closes or has answered `answers` times. */
export function sendRaw(port: number, parts: (string | Buffer)[], answers = 1): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    const finish = (closed: boolean) => {
      socket.destroy();
      const last = text.slice([...text.matchAll(STATUS_LINE)].at(-1)?.index);
      const end = last.indexOf('\r\n\r\n');
      const [head, answer] = [last.slice(0, end), last.slice(end + 4)];
      resolve({ status: Number(head.slice(9, 12)), head, text: answer, closed });
    };
    socket.setEncoding('utf8');
    socket.on('error', (error) => (text === '' ? reject(error) : finish(true)));
    socket.on('data', (chunk: string) => {
      text += chunk;
      const closing = /connection: close/i.test(text);
      if (!closing && [...text.matchAll(STATUS_LINE)].length >= answers && /\r\n\r\n[\s\S]*[}]$/.test(text))
        finish(false);
    });
    socket.on('end', () => finish(true));
    for (const part of parts) socket.write(part);
  });
}
