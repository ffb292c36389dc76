/** Answers bytes that are no HTTP request with a problem, like all refusals, and closes their connection. */
import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { securityHeaders } from './access/guard.ts';
import { HttpRefusal, problemOfHttp } from './problems.ts';

export function answerUnreadableRequests(server: Server): void {
  /** An answer in between would mix with the one that is being sent. */
  const answering = new WeakSet<Socket>();
  server.on('request', ({ socket }, response) => {
    answering.add(socket);
    response.once('close', () => answering.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || answering.has(socket as Socket)) socket.destroy();
    else socket.end(responseText(refusalOf(error)), () => socket.destroy());
  });
}

function refusalOf({ code }: NodeJS.ErrnoException): HttpRefusal {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpRefusal('too.long', 'the request line and the headers have more than 16 KiB, or more than 64 header lines');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new HttpRefusal('too.slow', 'the request did not arrive within 30 seconds, or its headers within 10');
  }
  return new HttpRefusal('malformed.request', 'this is not an HTTP request');
}

function responseText(refusal: HttpRefusal): string {
  const problem = problemOfHttp(refusal);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    '', body,
  ].join('\r\n');
}
