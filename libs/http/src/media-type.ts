import type { IncomingHttpHeaders } from 'node:http';

/** Whether the headers announce what the body must be: JSON in UTF-8, not encoded in any way. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  return type !== undefined && headers['content-encoding'] === undefined && isJsonType(type);
}

function isJsonType(header: string): boolean {
  if (header === 'application/json') return true;
  const [type, ...parameters] = header.split(';');
  if (type!.trim().toLowerCase() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=').map((part) => part.trim().toLowerCase());
    return name !== 'charset' || value === 'utf-8' || value === '"utf-8"';
  });
}
