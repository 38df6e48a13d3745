import { Injectable } from '@nestjs/common';
import { httpErrors } from './http.errors.js';
import type { ProblemError } from './problem.js';

interface KnownPath {
  pattern: RegExp;
  methods: Set<string>;
}

/** Which methods a path takes. Asked only for requests that no route took, to tell 405 from 404. */
@Injectable()
export class KnownPaths {
  private readonly paths = new Map<string, KnownPath>();

  add(method: string | string[], url: string): void {
    // What takes any path knows none.
    if (url.endsWith('*')) return;
    const path = this.paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) path.methods.add(each);
    this.paths.set(url, path);
  }

  methodsOf(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    const methods = [...this.paths.values()]
      .filter(({ pattern }) => pattern.test(path))
      .map((known) => [...known.methods]);
    return [...new Set(methods.flat())].toSorted();
  }

  /** Why no route took the request. */
  refusal(url: string): ProblemError {
    const methods = this.methodsOf(url);
    if (methods.length === 0) return httpErrors.ROUTE_NOT_FOUND();
    return httpErrors.METHOD_NOT_ALLOWED({ headers: { allow: methods.join(', ') } });
  }
}

/** `/v1/coupons/:id/issues` fits exactly one segment per parameter. */
function patternOf(url: string): RegExp {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+')}$`);
}
