/** Whether an Accept header admits JSON (RFC 9110 section 12.5.1). The most specific range that fits decides. */
export function accepts(header: string | undefined): boolean {
  if (header === undefined || header === '*/*' || header === 'application/json') return true;
  let best = -1;
  let admitted = false;
  for (const range of header.split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const specificity = ranges.get(name);
    if (specificity === undefined) continue;
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (specificity > best) admitted = false;
    if (specificity >= best) admitted ||= quality > 0;
    best = Math.max(best, specificity);
  }
  return admitted || header.trim() === '';
}

const ranges = new Map([
  ['*/*', 0],
  ['application/*', 1],
  ['application/json', 2],
]);
