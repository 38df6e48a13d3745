/** Which methods a path takes. Asked only for requests that no route took, to tell 405 from 404. */
export class KnownPaths {
  private readonly routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(method: string | string[], url: string): void {
    const route = this.routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const each of [method].flat()) route.methods.add(each);
    this.routes.set(url, route);
  }

  methodsOf(url: string): string[] {
    const path = url.split('?', 1)[0]!;
    const methods = [...this.routes.values()]
      .filter(({ pattern }) => pattern.test(path))
      .map((route) => [...route.methods]);
    return [...new Set(methods.flat())].toSorted();
  }
}

/** `/v1/coupons/:id/issues` fits exactly one segment per parameter; `*` fits the rest. */
function patternOf(url: string): RegExp {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
